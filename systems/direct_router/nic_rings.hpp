// SPDX-License-Identifier: Apache-2.0
// The rings of the NIC beside a card on PCI Express (direct_nic.sv), by the driver core of host-nic
// (sw/lib/host_nic): a receive queue and a completion queue a class, one transmit queue; polled.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/pcie/host_if.hpp"
#include "bench/pcie/switch_slot.hpp"
#include "sw/lib/host_nic/emnic.h"
#include "systems/direct_router/card_rings.hpp"
#include "systems/nic_core/machine.hpp"

namespace emery::direct_router {

class NicRings final : public CardRings {
 public:
  NicRings(const RingConfig& config, std::unique_ptr<SwitchSlot> slot,
           const FunctionConfig& function);
  ~NicRings() override;

  void start(std::uint64_t bar, std::vector<std::uint64_t>& pool) override;
  std::optional<Frame> front(unsigned cls) override;
  void pop(unsigned cls, std::uint64_t buffer) override;
  bool full() const override { return emnic_tx_room(transmit_) == 0; }
  bool empty() const override { return put_ == sent_; }
  void put(std::uint64_t buffer, unsigned bytes) override;
  unsigned untold() const override { return put_ - told_; }
  void tell() override;
  unsigned reap(std::vector<std::uint64_t>& pool) override;
  std::vector<Lost> lost() override;
  void check(Findings& findings) const override;

 private:
  struct Receive {
    emnic_rx* queue = nullptr;
    emnic_cq* completions = nullptr;
    std::vector<std::uint64_t> buffers;  // by slot
    std::uint16_t next = 0;              // slot that gets a buffer
    std::optional<Frame> front;          // taken from the completion queue
  };

  static int expect(int status);
  void post(Receive& receive, std::uint64_t buffer);

  RingConfig config_;
  std::unique_ptr<SwitchSlot> slot_;
  FunctionConfig function_;
  nic::Machine machine_;
  emnic* core_ = nullptr;
  std::vector<Receive> receive_;  // by class
  emnic_tx* transmit_ = nullptr;
  emnic_cq* transmitted_ = nullptr;
  std::vector<std::uint64_t> buffers_;  // of the transmit ring, by slot
  unsigned put_ = 0, told_ = 0, sent_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace emery::direct_router

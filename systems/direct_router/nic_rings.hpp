// SPDX-License-Identifier: Apache-2.0
// The rings of the NIC beside a card on PCI Express (direct_nic.sv), by the driver core of host-nic
// (sw/lib/host_nic): a receive queue and a completion queue a class, one transmit queue; polled. A
// queue that the NIC stops for an error is set up anew, all of them after a reset of the card.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "bench/pcie/host_if.hpp"
#include "bench/pcie/switch_slot.hpp"
#include "sw/lib/host_nic/emnic.h"
#include "systems/direct_router/card_rings.hpp"
#include "systems/direct_router/nic_fault.hpp"
#include "systems/nic_core/machine.hpp"

namespace emery::direct_router {

/// How long the NIC waits for what it reads, in its clocks (host_nic.rdl).
struct NicTimeouts {
  unsigned timeout, overtaken;
};

class NicRings final : public CardRings {
 public:
  /// `fault`: what goes wrong here; null: nothing.
  NicRings(const RingConfig& config, std::unique_ptr<SwitchSlot> slot,
           const FunctionConfig& function, const NicTimeouts& timeouts, NicFault* fault);
  ~NicRings() override;

  void start(std::uint64_t bar, std::vector<std::uint64_t>& pool) override;
  std::optional<Frame> front(unsigned cls) override;
  void pop(unsigned cls, std::uint64_t buffer) override;
  bool full() const override { return away_ || emnic_tx_room(transmit_.queue) == 0; }
  bool empty() const override { return transmit_.buffers.empty(); }
  void put(std::uint64_t buffer, unsigned bytes) override;
  unsigned untold() const override { return transmit_.untold; }
  void tell() override;
  unsigned reap(std::vector<std::uint64_t>& pool) override;
  void serve() override;
  void forget(std::vector<std::uint64_t>& pool) override;
  void reopen() override;
  std::vector<Lost> lost() override;
  std::optional<Restarts> restarts() const override { return restarts_; }
  void find_levels(Findings& findings) override;
  std::size_t buffers() const override;
  void check(Findings& findings) const override;

 private:
  // Buffers are in the order of the ring's slots.
  struct Receive {
    emnic_rx* queue = nullptr;
    emnic_cq* completions = nullptr;
    std::deque<std::uint64_t> buffers, owed;  // in the ring; for it when it can have them again
    std::optional<Frame> front;               // taken from the completion queue
    bool restarting = false;
  };
  struct Transmit {
    emnic_tx* queue = nullptr;
    emnic_cq* completions = nullptr;
    std::deque<std::uint64_t> buffers;
    unsigned untold = 0;
    bool restarting = false;
  };

  static int expect(int status);
  void connect();
  void post(Receive& receive, std::uint64_t buffer);
  void post_owed(Receive& receive);
  void restart(const emnic_event& event);

  RingConfig config_;
  std::unique_ptr<SwitchSlot> slot_;
  FunctionConfig function_;
  NicTimeouts timeouts_;
  NicFault* fault_;
  nic::Machine machine_;
  emnic* core_ = nullptr;
  bool away_ = false;             // between `forget` and the end of `reopen`
  std::vector<Receive> receive_;  // by class
  Transmit transmit_;
  Restarts restarts_;
};

}  // namespace emery::direct_router

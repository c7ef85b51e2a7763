// SPDX-License-Identifier: Apache-2.0
// The rings of a card's own (direct_router.rdl, direct_pkg.sv): slow_rx and slow_tx serve them.
#pragma once

#include <vector>

#include "bench/pcie/host_memory.hpp"
#include "bench/sim/cpu_port.hpp"
#include "systems/direct_router/card_rings.hpp"

namespace emery::direct_router {

class OwnRings final : public CardRings {
 public:
  OwnRings(const RingConfig& config, CpuPort& bus, HostMemory& memory);

  void start(std::uint64_t bar, std::vector<std::uint64_t>& pool) override;
  std::optional<Frame> front(unsigned cls) override;
  void pop(unsigned cls, std::uint64_t buffer) override;
  bool full() const override {
    return static_cast<std::uint16_t>(transmit_.producer - transmit_.consumer) == config_.slots;
  }
  bool empty() const override { return transmit_.consumer == transmit_.producer; }
  void put(std::uint64_t buffer, unsigned bytes) override;
  unsigned untold() const override {
    return static_cast<std::uint16_t>(transmit_.producer - transmit_.told);
  }
  void tell() override;
  unsigned reap(std::vector<std::uint64_t>& pool) override;
  std::size_t buffers() const override {
    return receive_.size() * config_.slots +
           static_cast<std::uint16_t>(transmit_.producer - transmit_.consumer);
  }

 private:
  struct Ring {
    std::uint64_t base = 0;
    std::uint8_t* memory = nullptr;
    std::uint16_t producer = 0, consumer = 0, told = 0;
    std::vector<std::uint64_t> buffers;
  };

  void make(Ring& ring);
  void write(std::size_t offset, std::uint32_t value) { bus_.write(bar_ + offset, value); }

  RingConfig config_;
  CpuPort& bus_;
  HostMemory& memory_;
  std::uint64_t bar_ = 0;
  std::vector<Ring> receive_;  // by class
  Ring transmit_;
  const std::uint8_t* status_ = nullptr;
};

}  // namespace emery::direct_router

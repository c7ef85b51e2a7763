// SPDX-License-Identifier: Apache-2.0
// The machine as the driver core sees it (sw/lib/host_nic/emnic.h), on the bench's host interface.
//
// Approximation: nothing but reads and writes of registers takes time; memory is where the CPU
// looks, and who polls is told where the device has written.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/pcie/host_if.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::nic {

class Machine {
 public:
  explicit Machine(HostInterface& host) : host_(host) {}

  emnic_ops ops();
  /// The device is where enumeration has put it.
  void plug() { bar_ = host_.device().bar0; }
  /// There is none any more: writes go nowhere, reads fail.
  void unplug() { bar_ = 0; }
  /// The device has been reset, and writes to no memory that the driver gives back from now on: it
  /// is gone then. Else it stays, in case the device writes there after all.
  void writes_no_more(bool reset) { reset_ = reset; }

  /// Told of rings that records go to: `count` of `stride` bytes each, from number `first` on.
  std::function<void(emnic_memory what, unsigned first, unsigned count, std::uint64_t bus,
                     std::size_t stride)>
      on_rings;
  std::function<void(unsigned vector)> on_interrupt;
  /// Writes of the device to memory of a ring that was no longer in use.
  std::uint64_t stale_writes() const { return stale_writes_; }

 private:
  static Machine& self(void* context) { return *static_cast<Machine*>(context); }
  void give_up(std::uint64_t bus, std::size_t bytes);
  void connect_registers(emnic_ops& ops);
  void connect_memory(emnic_ops& ops);

  HostInterface& host_;
  std::uint64_t bar_ = 0;
  bool reset_ = false;
  std::uint64_t stale_writes_ = 0;
};

}  // namespace emery::nic

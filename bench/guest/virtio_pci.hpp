// SPDX-License-Identifier: Apache-2.0
// A PCI device of a guest: its accesses to configuration space and BAR 0, as they come over virtio
// (include/uapi/linux/virtio_pcidev.h of Linux), are made at a HostInterface, and MSI-X messages of
// the device go back.
//
// Accesses are made in the guest's order, at the time at which it makes them. A read is answered
// when the device has: the guest looks for the answer once a microsecond. Nothing goes on behind an
// access to configuration space until that is done.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "bench/guest/vhost_device.hpp"
#include "bench/pcie/host_if.hpp"

namespace emery {

class VirtioPci {
 public:
  static constexpr unsigned kQueues = 2;

  VirtioPci(VhostDevice& device, HostInterface& host);

  /// The guest writes registers of BAR 0, at this offset.
  using OnRegister = std::function<void(std::uint64_t offset, std::span<const std::uint8_t> bytes)>;
  OnRegister on_register;

  /// There is something to tell the guest: a message of the device, or that many of its writes are
  /// done, whose memory it then has back.
  bool news() const {
    return (!messages_.empty() && !full_) || device_.queue(kCommands).untold() >= kManyWrites;
  }
  /// Tells the guest, which may ask for something at `others` first (VhostDevice::notify).
  void deliver(const std::vector<int>& others, const VhostDevice::Meanwhile& meanwhile);
  /// Has it look what there is, though there is nothing from here.
  void wake(const std::vector<int>& others, const VhostDevice::Meanwhile& meanwhile);

 private:
  static constexpr std::uint32_t kManyWrites = 64;

  struct Command;
  enum Queue : unsigned { kCommands = 0, kInterrupts = 1 };

  void serve();
  void config(const Command& command, const Virtqueue::Chain& chain);
  void mmio_read(const Command& command, const Virtqueue::Chain& chain);

  VhostDevice& device_;
  HostInterface& host_;
  std::deque<std::uint32_t> messages_;
  std::uint32_t bar_[2] = {};  // as the guest has set it
  bool busy_ = false;          // with an access to configuration space
  bool full_ = false;          // the guest has no place for a message
};

}  // namespace emery

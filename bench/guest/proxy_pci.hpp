// SPDX-License-Identifier: Apache-2.0
// A PCI device of a guest in QEMU: the remote end of its device x-pci-proxy-dev (multi-process
// QEMU, 7.2). Accesses to configuration space and BAR 0 are made at a HostInterface, the guest's
// memory is mapped. A read is answered when the device has; a write at once, as it is posted.
//
// Of interrupts the proxy knows INTx only, which this device does not have: MSI-X messages go to
// the guest's local APIC over QEMU's own test socket (qtest), as a write to memory.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/guest/guest_machines.hpp"
#include "bench/pcie/host_if.hpp"

namespace emery {

class ProxyPci {
 public:
  ProxyPci(Descriptor socket, HostInterface& host, GuestMachines::OnMemory on_memory)
      : socket_(std::move(socket)), host_(host), on_memory_(std::move(on_memory)) {}
  ~ProxyPci();
  ProxyPci(const ProxyPci&) = delete;
  ProxyPci& operator=(const ProxyPci&) = delete;

  int number() const { return socket_.number(); }
  /// Answers the next message; false when QEMU has ended. Runs the simulation for a read.
  bool serve();

 private:
  struct Header;
  void take_memory(const std::vector<std::uint8_t>& body, std::vector<Descriptor>& files);
  std::uint64_t config(const std::vector<std::uint8_t>& body, bool write);
  std::uint64_t bar(const std::vector<std::uint8_t>& body, bool write);
  void answer(std::uint64_t value);

  Descriptor socket_;
  HostInterface& host_;
  GuestMachines::OnMemory on_memory_;
  void* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// A PCI device of a guest in QEMU: the remote end of its device x-pci-proxy-dev (multi-process
// QEMU, 7.2). Accesses to configuration space and BAR 0 are made at a HostInterface, the guest's
// memory is mapped. A read is answered when the device has; a write at once, as it is posted.
//
// Of interrupts the proxy knows INTx only, which this device does not have: MSI-X messages go to
// the guest's local APIC over QEMU's own test socket (qtest), as a write to memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/guest/socket_guests.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/pcie/host_memory.hpp"

namespace emery {

class ProxyPci final : public SocketGuests::Peer {
 public:
  /// `guest` gets the machine's memory; null: it has it by another device.
  ProxyPci(Descriptor socket, HostInterface& host, HostMemory* guest)
      : socket_(std::move(socket)), host_(host), guest_(guest) {}
  ~ProxyPci() override;
  ProxyPci(const ProxyPci&) = delete;
  ProxyPci& operator=(const ProxyPci&) = delete;

  int number() const override { return socket_.number(); }
  bool serve() override;

 private:
  struct Header;
  void take_memory(const std::vector<std::uint8_t>& body, std::vector<Descriptor>& files);
  std::uint64_t config(const std::vector<std::uint8_t>& body, bool write);
  std::uint64_t bar(const std::vector<std::uint8_t>& body, bool write);
  void answer(std::uint64_t value);

  Descriptor socket_;
  HostInterface& host_;
  HostMemory* guest_;
  void* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
};

}  // namespace emery

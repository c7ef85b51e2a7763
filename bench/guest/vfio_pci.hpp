// SPDX-License-Identifier: Apache-2.0
// A PCI device behind a vfio-user socket: the server's side of version 0.1 of the protocol. What
// its client asks for is done at a SlotInterface, what the device does to memory at the client's.
//
// A reset is one of the function. A read of a register is answered when the device has; a write at
// once, as it is posted.
//
// Memory that is in no file goes by messages, which stop the simulation until they are answered. A
// client that does not answer them while it waits for a register itself (QEMU's does not) has to
// share its memory.
//
// A message that asks for what there is not, or cannot be, is refused with an errno, and nothing
// done. Left out: regions that the client maps, file descriptors of regions, a second socket for
// commands to the client, several writes in a message, migration.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/guest/client_memory.hpp"
#include "bench/guest/socket_guests.hpp"
#include "bench/guest/vector_events.hpp"
#include "bench/guest/vfio_channel.hpp"
#include "bench/guest/vfio_regions.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/pcie/host_memory.hpp"

namespace emery {

class VfioPci final : public SocketGuests::Peer {
 public:
  /// `guest` gets the machine's memory; null: it has it by another device.
  VfioPci(Descriptor socket, SlotInterface& host, HostMemory* guest);
  ~VfioPci() override;

  int number() const override { return channel_.number(); }
  bool serve() override;
  bool behind() const override { return channel_.behind(); }

 private:
  using Message = VfioChannel::Message;
  using Bytes = std::vector<std::uint8_t>;
  struct Access;

  // Each gives the reply's body; throws Refused.
  Bytes answer(Message& message);
  Bytes agree(const Message& message);
  Bytes map_memory(const Message& message);
  Bytes unmap_memory(const Message& message);
  Bytes device_info(const Message& message) const;
  Bytes region_info(const Message& message) const;
  Bytes region_files(const Message& message) const;
  Bytes interrupt_info(const Message& message) const;
  Bytes set_interrupts(Message& message);
  Bytes read_region(const Message& message);
  Bytes write_region(const Message& message);
  void check(const Access& access) const;

  bool transfer_in(std::uint64_t addr, void* to, std::uint64_t bytes);
  bool transfer_out(std::uint64_t addr, const void* from, std::uint64_t bytes);

  VfioChannel channel_;
  HostMemory* guest_;
  ClientMemory memory_;
  VectorEvents vectors_;
  VfioRegions regions_;
  bool agreed_ = false;
  std::uint64_t most_data_ = VfioChannel::kMostData;  // that the client takes in a transfer
};

}  // namespace emery

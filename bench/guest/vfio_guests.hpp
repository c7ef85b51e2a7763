// SPDX-License-Identifier: Apache-2.0
// Guest machines of any monitor that speaks vfio-user (QEMU from 10.1 on, cloud-hypervisor, SPDK's
// programs): each finds its device (VfioPci) at its socket.
#pragma once

#include <memory>

#include "bench/guest/socket_guests.hpp"

namespace emery {

class VfioGuests : public SocketGuests {
 public:
  using SocketGuests::SocketGuests;

 private:
  std::unique_ptr<Peer> meet(Descriptor caller, SlotInterface& host, HostMemory* memory) override;
};

}  // namespace emery

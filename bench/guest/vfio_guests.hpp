// SPDX-License-Identifier: Apache-2.0
// Guest machines of any monitor that speaks vfio-user (QEMU from 10.1 on, cloud-hypervisor, SPDK's
// programs): each finds its device (VfioPci) at its socket.
#pragma once

#include <string>
#include <vector>

#include "bench/guest/socket_guests.hpp"

namespace emery {

class VfioGuests : public SocketGuests {
 public:
  using SocketGuests::SocketGuests;

  void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
           HostMemory& memory) override;

 private:
  unsigned guests_ = 0;
};

}  // namespace emery

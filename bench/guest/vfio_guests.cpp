// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vfio_guests.hpp"

#include <utility>

#include "bench/guest/vfio_pci.hpp"

namespace emery {

std::unique_ptr<SocketGuests::Peer> VfioGuests::meet(Descriptor caller, SlotInterface& host,
                                                     HostMemory* memory) {
  return std::make_unique<VfioPci>(std::move(caller), host, memory);
}

}  // namespace emery

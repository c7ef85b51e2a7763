// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vfio_guests.hpp"

#include <memory>
#include <utility>

#include "bench/guest/vfio_pci.hpp"

namespace emery {

void VfioGuests::add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                     HostMemory& memory) {
  const std::string number = std::to_string(guests_++);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    SlotInterface& host = *slots[i];
    HostMemory* own = i == 0 ? &memory : nullptr;
    listen(folder + "/pci" + number + "." + std::to_string(i), [&host, own](Descriptor caller) {
      return std::make_unique<VfioPci>(std::move(caller), host, own);
    });
  }
}

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// The host's IOMMU: which function of a device may reach which page of memory, and which interrupt
// messages are its own.
//
// A page has one owner. What a function asks of another's, or of what is nobody's, is refused: a
// read is answered Unsupported Request, a write dropped; each counts for the function that asked.
// Approximation: addresses are not translated, and a look-up takes no time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emery {

class Iommu {
 public:
  static constexpr std::uint64_t kPage = 4096;
  struct Refused {
    std::uint64_t reads = 0, writes = 0, interrupts = 0;
  };

  explicit Iommu(unsigned functions) : refused_(functions) {}

  void grant(unsigned function, std::uint64_t addr, std::uint64_t bytes) {
    for (std::uint64_t page = addr / kPage; page <= (addr + bytes - 1) / kPage; ++page)
      owner_[page] = function;
  }
  /// Nothing is this function's any more.
  void revoke(unsigned function) {
    std::erase_if(owner_, [function](const auto& page) { return page.second == function; });
  }
  bool owns(unsigned function, std::uint64_t addr, std::uint64_t bytes) const {
    for (std::uint64_t page = addr / kPage; page <= (addr + bytes - 1) / kPage; ++page) {
      const auto found = owner_.find(page);
      if (found == owner_.end() || found->second != function) return false;
    }
    return true;
  }

  bool read(unsigned function, std::uint64_t addr, std::uint64_t bytes) {
    return owns(function, addr, bytes) || (++refused_.at(function).reads, false);
  }
  bool write(unsigned function, std::uint64_t addr, std::uint64_t bytes) {
    return owns(function, addr, bytes) || (++refused_.at(function).writes, false);
  }
  /// Whose a message is stands in its upper half.
  bool interrupt(unsigned function, std::uint32_t data) {
    return data >> 16 == function || (++refused_.at(function).interrupts, false);
  }
  const Refused& refused(unsigned function) const { return refused_.at(function); }

 private:
  std::unordered_map<std::uint64_t, unsigned> owner_;
  std::vector<Refused> refused_;
};

}  // namespace emery

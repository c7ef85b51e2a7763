// SPDX-License-Identifier: Apache-2.0
// What other processors and memories would make of the firmware's own instructions and accesses
// (paper, table 2 and figure 3): the studies of bench/core, fed while the system runs.
//
// Instructions are those of core 0, `kInstructions` of them at the most. Accesses are those of all
// cores and assists to the scratchpad, stacks left out, in the order of their clocks; the two DMA
// assists share a cache, and so do the two of the MAC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/core/cache_study.hpp"
#include "bench/core/iss.hpp"
#include "bench/core/issue_study.hpp"
#include "bench/stats/json.hpp"
#include "systems/core_nic/image.hpp"

namespace emery::core_nic {

class Studies {
 public:
  Studies(const Image& image, unsigned cores);

  void retired(unsigned core, const Retired& r);
  // Assists: 0 DMA read, 1 DMA write, 2 MAC transmit, 3 MAC receive.
  void assist(unsigned assist, std::uint32_t address, bool write) {
    access(cores_ + assist / 2, address, write);
  }
  void write(JsonWriter& json) const;

 private:
  static constexpr std::uint64_t kInstructions = 200'000;
  void access(unsigned master, std::uint32_t address, bool write);

  unsigned cores_;
  std::uint32_t stacks_;  // from here on there are only stacks
  std::uint64_t instructions_ = 0, accesses_ = 0;
  std::vector<IssueStudy> issue_;
  std::vector<CacheStudy> caches_;
};

}  // namespace emery::core_nic

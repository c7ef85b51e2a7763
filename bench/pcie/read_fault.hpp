// SPDX-License-Identifier: Apache-2.0
// What the setting `fault` does to a read, by the names that all systems have for it.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/pcie/root_complex.hpp"
#include "bench/sim/time.hpp"

namespace emery {

/// An address of memory that there is not.
constexpr std::uint64_t kNowhere = 0x5555'0000'0000;  // HostMemory never maps this

/// How long nothing may move because of it, where a read is given up after `timeout`.
inline Time fault_pause(std::string_view name, Time timeout) {
  return name == "late_completion" ? 2 * timeout : name.starts_with("lost") ? timeout : 0;
}

/// Of the next read: `late_completion` comes so much later, `poisoned_completion` is poisoned; of
/// what else is lost there is none.
inline ReadFault read_fault(std::string_view name, Time late) {
  ReadFault fault;
  if (name == "late_completion") {
    fault.kind = ReadFault::Kind::kDelay;
    fault.delay = late;
  } else if (name == "poisoned_completion") {
    fault.kind = ReadFault::Kind::kPoison;
  }
  return fault;
}

}  // namespace emery

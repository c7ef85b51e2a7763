// SPDX-License-Identifier: Apache-2.0
// What the setting `fault` does to a read, by the names that all systems have for it.
#pragma once

#include <string_view>

#include "bench/pcie/root_complex.hpp"
#include "bench/sim/time.hpp"

namespace emery {

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

// SPDX-License-Identifier: Apache-2.0
// core_pkg::trap_e, for people.
#pragma once

#include <string_view>

#include "core_formats.hpp"

namespace emery {

inline std::string_view trap_name(unsigned trap) {
  switch (trap) {
    case core_pkg::NoTrap:
      return "no trap";
    case core_pkg::TrapIllegal:
      return "illegal instruction";
    case core_pkg::TrapFetch:
      return "instruction fetch from nowhere";
    case core_pkg::TrapLoadAlign:
      return "misaligned load";
    case core_pkg::TrapStoreAlign:
      return "misaligned store";
    case core_pkg::TrapLoadAccess:
      return "load from nowhere";
    case core_pkg::TrapStoreAccess:
      return "store to nowhere";
    case core_pkg::TrapBreak:
      return "ebreak";
    case core_pkg::TrapCall:
      return "ecall";
    case core_pkg::TrapWatchdog:
      return "watchdog";
    default:
      return "unknown trap";
  }
}

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// What the transmit schedulers are set to: which one there is, what share of it a queue has, and of
// a schedule of time slots which queue may send when; or what rate it is limited to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::host_nic {

struct Scheduling {
  bool own_registers = false;            // other than round robin
  std::vector<std::uint8_t> shares;      // of queue n entry n modulo their number; empty: all 0
  std::vector<std::uint8_t> priorities;  // the same, beside weights
  std::uint32_t window = 0;              // bytes
  std::vector<emnic_slot> slots;         // from PTP time 0 on; empty: none
  std::uint32_t open_ns = 0, close_ns = 0;
  std::vector<emnic_limit> limits;  // of queue n entry n modulo their number; empty: none

  Scheduling() = default;
  explicit Scheduling(const Options& options);
  unsigned share(unsigned queue) const {
    return shares.empty() ? 0 : shares[queue % shares.size()];
  }
  /// As the driver core has it; valid as long as this.
  emnic_scheduler core() const;
};

/// "a,b,c" in parts; none of an empty text.
std::vector<std::string> list_of(const std::string& text, char between = ',');

}  // namespace emery::host_nic

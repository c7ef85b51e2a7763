// SPDX-License-Identifier: Apache-2.0
// What the PCIe hard block's model is told, and what it counts.
#pragma once

#include <cstdint>

#include "bench/pcie/config_space.hpp"
#include "bench/sim/time.hpp"

namespace emery {

struct EndpointConfig {
  FunctionConfig function;
  int tx_tlps =
      16;  // transmit buffer: packets and bytes of payload; the last packet may exceed the bytes
  std::uint32_t tx_bytes = 4096;
};

struct EndpointStats {
  std::uint64_t tx_tlps = 0, tx_beats = 0, rx_tlps = 0, rx_beats = 0;
  std::uint64_t tx_stall_clocks = 0;  // a beat waited for the transmit buffer
  std::uint64_t rx_stall_clocks = 0;  // a beat waited for the logic
  std::uint64_t fc_violations = 0;    // packets of the logic beyond the root complex's credits
  std::uint64_t tx_malformed = 0;     // beats that do not fit the header: dropped
  std::uint64_t tx_not_master = 0;    // requests while bus mastering is off: dropped
  std::uint64_t rx_unsupported = 0;   // requests that missed BAR 0
  std::uint64_t rx_misrouted = 0;     // completions for someone else
  double rq_beats = 0;                // that requests took at RQ, of places of half a beat
  std::uint64_t reads = 0, read_bytes = 0;
  std::uint64_t read_bytes_max =
      0;  // asked for and not yet given to the logic: what the hard block must buffer
  std::uint64_t reads_max = 0;  // reads outstanding
  Time read_time_sum = 0, read_time_min = kNever,
       read_time_max = 0;  // request accepted to last completion beat

  template <class Json>
  void write(Json& json) const {
    json.begin_object()
        .field("tx_tlps", tx_tlps)
        .field("tx_beats", tx_beats)
        .field("rx_tlps", rx_tlps)
        .field("rx_beats", rx_beats)
        .field("tx_stall_clocks", tx_stall_clocks)
        .field("rx_stall_clocks", rx_stall_clocks)
        .field("fc_violations", fc_violations)
        .field("tx_malformed", tx_malformed)
        .field("tx_not_master", tx_not_master)
        .field("rx_unsupported", rx_unsupported)
        .field("rx_misrouted", rx_misrouted)
        .field("reads", reads)
        .field("read_bytes", read_bytes)
        .field("read_bytes_max", read_bytes_max)
        .field("reads_max", reads_max)
        .field("read_ns_min", reads ? static_cast<double>(read_time_min) / 1e3 : 0.0)
        .field("read_ns_mean",
               reads ? static_cast<double>(read_time_sum) / 1e3 / static_cast<double>(reads) : 0.0)
        .field("read_ns_max", static_cast<double>(read_time_max) / 1e3)
        .end_object();
  }
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// What went over the wire of a port, against the card's own counters at the end of a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/mac_end.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::host_nic {

class PortCounts {
 public:
  /// `max_frame`: the longest that the port takes, without FCS. `keeps_control`: MAC control frames
  /// that are received end in its MAC.
  PortCounts(std::uint32_t max_frame, bool keeps_control)
      : max_frame_(max_frame), keeps_control_(keeps_control) {}

  void reset() { ++resets_; }
  void sent(std::span<const std::uint8_t> frame) { add_good(tx_, frame); }
  /// A frame as it was before that fault.
  void received(std::span<const std::uint8_t> frame, WireFault fault);

  /// Reads the port's counters, which takes simulated time, and compares all where the card was
  /// reset only once.
  void compare(emnic* core, unsigned interface, unsigned port, const MacStats& line);
  const Findings& findings() const { return findings_; }
  void write(JsonWriter& json) const;

 private:
  static void add_size(emnic_port_counts& counts, std::size_t frame);
  static void add_good(emnic_port_counts& counts, std::span<const std::uint8_t> frame);
  void check(const std::string& what, std::uint64_t card, std::uint64_t wire);
  void check_all(const std::string& way, const emnic_port_counts& card,
                 const emnic_port_counts& wire);

  std::uint32_t max_frame_;
  bool keeps_control_;
  unsigned resets_ = 0;
  emnic_port_counts tx_{}, rx_{};            // of the wire; all that are too short are undersize
  emnic_port_counts card_tx_{}, card_rx_{};  // of the card
  Findings findings_;
};

}  // namespace emery::host_nic

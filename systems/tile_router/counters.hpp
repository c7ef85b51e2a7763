// SPDX-License-Identifier: Apache-2.0
// What the programs and the edge slots have counted, read over the boot port.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/run/crossings.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/tile_router/boot.hpp"

namespace emery::tile_router {

class Counters {
 public:
  /// `every`: how often they are read while it runs; 0: they are not.
  Counters(const BootImage& image, Simulation& simulation, BootPort& boot, Time every)
      : image_(image), simulation_(simulation), boot_(boot), every_(every) {}

  /// Reads them when it is time to; `entered` says how many frames have come in by then.
  void look(const std::function<std::uint64_t()>& entered);

  /// Reads what the programs count; gives the sum of what they say they have dropped.
  std::uint64_t read();
  /// Reads what the slots in use have counted.
  void read_slots();

  /// Counts the drops read last where they belong.
  void account(Crossings& crossings, Findings& findings) const;
  /// Drops that the pipelines of a port have counted for a reason.
  std::uint64_t dropped(unsigned port, const std::string& reason) const;
  /// Of all programs together.
  std::uint64_t sum(const std::string& name) const;
  /// Of all counters whose names begin so.
  std::uint64_t sum_of(const std::string& prefix) const;
  void check(Findings& findings) const;
  /// The fields `counters`, `tile_counters`, `counter_reads` and `slots` of the open object.
  void write(JsonWriter& json) const;

 private:
  static constexpr std::array kNames = {"mem_reads", "mem_writes", "mem_bad", "in_frames",
                                        "in_bad",    "out_frames", "out_bad", "stray"};

  const BootImage::Tile& tile_of(const BootImage::Counter& counter) const;

  const BootImage& image_;
  Simulation& simulation_;
  BootPort& boot_;
  Time every_, last_ = 0;
  std::uint64_t reads_ = 0;             // while it ran
  std::uint64_t fell_ = 0, ahead_ = 0;  // values below those read before, reads of too many frames
  std::vector<std::uint32_t> values_;   // as image_.counters
  std::map<unsigned, std::array<std::uint32_t, kNames.size()>> slots_;
};

}  // namespace emery::tile_router

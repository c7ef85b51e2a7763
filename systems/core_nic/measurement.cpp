// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/measurement.hpp"

#include <cstddef>

#include "core_nic.h"

namespace emery::core_nic {

Measurement::Snapshot Measurement::snapshot() {
  Snapshot s;
  s.scratch = parts_.driver.read(offsetof(core_nic_regs_t, scratch_accesses));
  s.imem = parts_.driver.read(offsetof(core_nic_regs_t, imem_reads));
  s.time = parts_.simulation.now();
  s.ddr_busy = parts_.ddr.stats().busy();
  s.core_clocks = parts_.simulation.cycles(parts_.clocks.core);
  s.mem_clocks = parts_.simulation.cycles(parts_.clocks.mem);
  s.sent = sent_;
  s.received = received_;
  return s;
}

void Measurement::begin() {
  from_ = snapshot();
  parts_.host.count_from_here();
  parts_.observer.measure(true);
}

void Measurement::end() {
  parts_.observer.measure(false);
  to_ = snapshot();
  parts_.host.count_to_here();
}

void Measurement::write(JsonWriter& json, Time traffic_start) const {
  if (!ended()) return;
  const double seconds = static_cast<double>(to_.time - from_.time) / 1e12;
  json.object("measured")
      .field("from_us", static_cast<double>(from_.time - traffic_start) / kMicrosecond)
      .field("to_us", static_cast<double>(to_.time - traffic_start) / kMicrosecond)
      .field("core_clocks", to_.core_clocks - from_.core_clocks)
      .field("sent", to_.sent - from_.sent)
      .field("received", to_.received - from_.received)
      .end_object();
  write_cores(json, seconds);
  write_memories(json, seconds);
  parts_.host.write_busy(json);
}

void Measurement::write_cores(JsonWriter& json, double seconds) const {
  const Profile& profile = parts_.observer.profile();
  const auto a_frame = [&](std::uint64_t n) {
    return frames() ? static_cast<double>(n) / static_cast<double>(frames()) : 0.0;
  };
  json.field("core_mhz", parts_.clocks.core_thirds / 3.0);
  profile.write_use(json);
  json.field("instructions_a_second",
             static_cast<double>(profile.total(core_pkg::Retire)) / seconds)
      .field("instructions_a_frame", a_frame(profile.total(core_pkg::Retire)))
      .field("accesses_a_frame", a_frame(profile.accesses()));
}

void Measurement::write_memories(JsonWriter& json, double seconds) const {
  const auto gbps = [&](std::uint64_t bits) { return 1e-9 * static_cast<double>(bits) / seconds; };
  const double core_mhz = parts_.clocks.core_thirds / 3.0;
  json.object("instruction_memory")
      .field("gbps", gbps(128ull * (to_.imem - from_.imem)))
      .field("peak_gbps", core_mhz * 0.128)
      .end_object();
  json.object("scratchpad")
      .field("gbps", gbps(32ull * (to_.scratch - from_.scratch)))
      .field("peak_gbps", core_mhz * 0.032 * parts_.clocks.banks)
      .field("core_accesses", parts_.observer.profile().accesses())
      .field("assist_accesses", parts_.observer.assist_accesses())
      .end_object();
  const std::uint64_t words = to_.ddr_busy - from_.ddr_busy,
                      clocks = dram_pkg::DramSlots * (to_.mem_clocks - from_.mem_clocks);
  json.object("frame_memory")
      .field("gbps", gbps(128 * words))
      .field("peak_gbps", parts_.clocks.mem_mhz * 0.128)
      .field("busy", clocks ? static_cast<double>(words) / static_cast<double>(clocks) : 0.0);
  json.key("device");
  parts_.ddr.stats().write(json);
  json.end_object();
}

}  // namespace emery::core_nic

// SPDX-License-Identifier: Apache-2.0
// Parts of tile-router's result.
#pragma once

#include <string>

#include "bench/sim/time.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/json.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/wires.hpp"

namespace emery::tile_router {

/// The field `latency_cycles` of the open object.
inline void write_latency(JsonWriter& json, const Histogram& latency, Time period) {
  const auto cycles = [&](Time time) {
    return static_cast<double>(time) / static_cast<double>(period);
  };
  json.object("latency_cycles")
      .field("min", cycles(latency.min()))
      .field("p50", cycles(latency.percentile(0.5)))
      .field("p99", cycles(latency.percentile(0.99)))
      .field("max", cycles(latency.max()))
      .end_object();
}

/// A port's field of the open object.
inline void write_linecard(JsonWriter& json, unsigned port, const BootImage::Linecard& card,
                           const WordLineIn& in) {
  json.object(std::to_string(port))
      .field("in_slot", card.in)
      .field("out_slot", card.out)
      .field("words_in", in.words())
      .field("stall_clocks", in.stall_clocks())
      .end_object();
}

}  // namespace emery::tile_router

// SPDX-License-Identifier: Apache-2.0
// When a device is reset in the middle of traffic, and what is told of each time. Settings:
// reset_kind, reset_at_us, reset_every_us, reset_us.
#pragma once

#include <string>

#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"

namespace emery {

struct ResetPlan {
  static constexpr Time kPatience = 100 * kMicrosecond;  // with a device that is not through

  explicit ResetPlan(const Options& options)
      : next(options.fine_us("reset_at_us")),
        every(options.fine_us("reset_every_us")),
        lasts(options.us("reset_us")),
        function(options.get<std::string>("reset_kind") == "function") {}

  /// One is due before `until` of traffic that began at `start`.
  bool due(Time start, Time until) const { return next < until - start; }
  /// One is over, so long after traffic began.
  void again(Time since_start) { next = every ? since_start + every : kNever; }

  Time next, every, lasts;  // next: of traffic
  bool function;            // level
};

/// One reset, from its beginning on.
struct ResetTimes {
  Time at = 0, since_start = 0, opened = 0, recovered = 0;
  bool done = true;

  void check(Findings& findings) const {
    if (!done) findings.add("a function-level reset does not end");
  }
  /// Fields of the object that is open.
  void write(JsonWriter& json) const {
    json.field("at_us", us(since_start)).field("opened_us", us(opened)).key("recovered_us");
    write_us(json, recovered);
  }
  /// A time since the reset; null: what it is of has not happened.
  static void write_us(JsonWriter& json, Time since) {
    since ? json.value(us(since)) : json.null();
  }

 private:
  static double us(Time time) { return static_cast<double>(time) / kMicrosecond; }
};

}  // namespace emery

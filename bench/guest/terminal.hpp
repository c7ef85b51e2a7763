// SPDX-License-Identifier: Apache-2.0
// Somebody types at a terminal of the first guest: whoever passes that on says so here. While
// nothing moves in the simulation the guests' time goes no faster than the wall's.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/guest/channel.hpp"
#include "bench/sim/time.hpp"

namespace emery {

class Terminal {
 public:
  /// `told`, a socket, can be read from when something was typed.
  explicit Terminal(Descriptor told) : told_(std::move(told)) {}

  bool typed() const { return open_ && readable(told_.number(), 0); }
  /// Forgets what was told.
  void take() {
    char some[64];
    open_ = receive_some(told_, some, sizeof some).has_value();
  }
  /// Waits as long as that takes on the wall, or until somebody types; gives what has gone by.
  Time wait(Time span) {
    ahead_ += span;
    const Time ms = std::min<Time>(ahead_ / kMillisecond, kLongest);
    if (ms == 0) return span;
    const auto begun = std::chrono::steady_clock::now();
    const bool woken = open_ && readable(told_.number(), static_cast<int>(ms));
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
    const Time gone = took.count() * kNanosecond;
    if (!woken) {
      ahead_ = std::max<Time>(ahead_ - std::max(gone, ms * kMillisecond), 0);
      return span;
    }
    ahead_ = 0;
    return std::min(span, gone);
  }

 private:
  static constexpr Time kMillisecond = 1000 * kMicrosecond;
  static constexpr Time kLongest = 10'000;  // ms

  Descriptor told_;
  Time ahead_ = 0;  // of the wall
  bool open_ = true;
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// A crystal that is off its frequency and wanders: clocks of the simulation that follow it, and a
// clock of a model that counts by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/sim/random.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

class Oscillator {
 public:
  static constexpr std::uint64_t kBillion = 1'000'000'000;
  static constexpr std::int64_t kMost = 200'000;
  static constexpr Time kStep = 100 * kMicrosecond;

  /// `ppb` above its frequency at first; every 100 us it moves up or down by up to `wander` ppb,
  /// any of them alike.
  Oscillator(std::int64_t ppb, std::uint64_t wander, std::uint64_t seed)
      : ppb_(ppb), wander_(wander), random_(seed) {}

  std::int64_t ppb() const { return ppb_; }
  /// Of a clock of `hz`: what add_clock wants, with kBillion as divisor.
  std::uint64_t scaled(std::uint64_t hz) const {
    return hz * static_cast<std::uint64_t>(static_cast<std::int64_t>(kBillion) + ppb_);
  }
  void follows(int clock, std::uint64_t hz) { clocks_.push_back({clock, hz}); }

  /// Wanders from now on.
  void start(Simulation& simulation) {
    if (wander_ == 0) return;
    simulation.at(simulation.now() + kStep, [this, &simulation](Time) {
      const auto moved = static_cast<std::int64_t>(random_.between(0, 2 * wander_));
      ppb_ = std::clamp(ppb_ + moved - static_cast<std::int64_t>(wander_), -kMost, kMost);
      for (const auto& [clock, hz] : clocks_) simulation.retune(clock, scaled(hz), kBillion);
      start(simulation);
    });
  }

 private:
  std::int64_t ppb_;
  std::uint64_t wander_;
  Random random_;
  std::vector<std::pair<int, std::uint64_t>> clocks_;
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// Whether nothing is under way in a simulation, and nothing has been for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "bench/sim/simulation.hpp"

namespace emery {

class Stillness {
 public:
  /// A number that changes when anything moves in the simulation, or an empty one while something
  /// is under way for sure.
  using Activity = std::function<std::optional<std::uint64_t>()>;

  Stillness(const Simulation& simulation, Activity activity)
      : simulation_(simulation), activity_(std::move(activity)) {}

  /// Something has moved that the simulation does not know of.
  void moved() { moved_ = simulation_.now(); }
  bool quiet() {
    const auto found = activity_();
    if (!found || found != seen_) moved();
    seen_ = found;
    return simulation_.now() - moved_ >= kQuiet;
  }

 private:
  static constexpr Time kQuiet = 10 * kMicrosecond;  // longer than a device lets anything wait

  const Simulation& simulation_;
  Activity activity_;
  Time moved_ = 0;  // when something did, in the simulation's time
  std::optional<std::uint64_t> seen_;
};

}  // namespace emery

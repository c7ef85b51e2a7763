// SPDX-License-Identifier: Apache-2.0
// Routes that come and go at random, as BGP has it: which change comes next follows from the seed.
//
// One half is of routes that traffic takes. A route is withdrawn, comes back, leads elsewhere, or a
// longer prefix within it gets a route of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/route/routes.hpp"
#include "bench/sim/random.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery::route {

/// Where a port sends to.
struct Destination {
  unsigned from;
  std::uint32_t address;
};

/// How long changes took until they had their effect.
class ChangeTimes {
 public:
  void took(Time time) {
    longest_ = std::max(longest_, time);
    all_ += time;
    ++changes_;
  }
  /// Fields of the open object.
  void write(JsonWriter& json) const {
    const double mean = changes_ ? static_cast<double>(all_) / static_cast<double>(changes_) : 0.0;
    json.field("us_mean", mean / 1e6).field("us_max", static_cast<double>(longest_) / 1e6);
  }

 private:
  Time longest_ = 0, all_ = 0;
  std::uint64_t changes_ = 0;
};

class Churn {
 public:
  /// Routes of less than `shortest` bits stay as they are. Throws OptionError when that is all.
  Churn(std::uint64_t seed, unsigned ports, const Routes& routes,
        const std::vector<Destination>& destinations, unsigned shortest = 0);

  /// The next change, which is made then.
  RouteChange draw();

 private:
  struct Live {
    Route route;
    std::optional<Destination> taken;  // by traffic
  };

  unsigned other_port(const Live& live);

  Random random_;
  unsigned ports_;
  std::vector<Live> taken_, others_, withdrawn_;
};

}  // namespace emery::route

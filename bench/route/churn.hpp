// SPDX-License-Identifier: Apache-2.0
// Routes that come and go while frames flow, as BGP has it: as a file says, or at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bench/route/routes.hpp"
#include "bench/sim/options.hpp"
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

/// Where changes come from, in the order in which they are made.
class ChangeSource {
 public:
  virtual ~ChangeSource() = default;
  /// The next one, which is made then; none: that was all.
  virtual std::optional<RouteChange> next() = 0;
  /// How many are left, where there is an end.
  virtual std::uint64_t left() const { return 0; }
};

/// As the run says (`updates`, a file; else at random by its seed). Routes of less than `shortest`
/// bits do not change. Throws OptionError.
std::unique_ptr<ChangeSource> change_source(const Options& options, unsigned ports,
                                            const Routes& routes,
                                            const std::vector<Destination>& destinations,
                                            unsigned shortest = 0);

class ListedChanges final : public ChangeSource {
 public:
  explicit ListedChanges(RouteChanges changes) : changes_(std::move(changes)) {}
  std::optional<RouteChange> next() override {
    if (at_ == changes_.size()) return {};
    return changes_[at_++];
  }
  std::uint64_t left() const override { return changes_.size() - at_; }

 private:
  RouteChanges changes_;
  std::size_t at_ = 0;
};

/// At random: which change comes next follows from the seed. One half is of routes that traffic
/// takes. A route is withdrawn, comes back, leads elsewhere, or a longer prefix within it gets a
/// route of its own.
class Churn final : public ChangeSource {
 public:
  /// Throws OptionError when no route may change.
  Churn(std::uint64_t seed, unsigned ports, const Routes& routes,
        const std::vector<Destination>& destinations, unsigned shortest);

  std::optional<RouteChange> next() override { return draw(); }

 private:
  struct Live {
    Route route;
    std::optional<Destination> taken;  // by traffic
  };

  RouteChange draw();
  unsigned other_port(const Live& live);

  Random random_;
  unsigned ports_;
  std::vector<Live> taken_, others_, withdrawn_;
};

}  // namespace emery::route

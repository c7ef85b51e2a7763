// SPDX-License-Identifier: Apache-2.0
// Routes that change while frames flow (bench/route/churn.hpp): who tells the control tile, as a
// routing daemon beyond the boot port would, and what the judge takes meanwhile.
//
// A change is written to the RAM of the control tile (programs/changes.c), its number last; it is
// done when the tile says that number. From the first write until then a frame that is inside may
// go by the routes before or after it, any other by those in force alone. The next change begins
// when the one before is done. Changes that the tables have no room for do not happen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/route/churn.hpp"
#include "bench/run/crossings.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/counters.hpp"
#include "systems/tile_router/judge.hpp"
#include "systems/tile_router/memories.hpp"
#include "systems/tile_router/unsettled.hpp"

namespace emery::tile_router {

class Updates final : public Component {
 public:
  Updates(const Options& options, const BootImage& image, const route::Routes& routes,
          const std::vector<route::Destination>& destinations, BootPort& boot, Judge& judge);

  /// Null when routes do not change. Throws OptionError when none of them may.
  static std::unique_ptr<Updates> of(const Options& options, const BootImage& image,
                                     const route::Routes& routes,
                                     const std::vector<route::Destination>& destinations,
                                     BootPort& boot, Judge& judge);

  Unsettled& frames() { return frames_; }
  const Unsettled& frames() const { return frames_; }
  /// What has not come out, by what the tiles have counted.
  std::vector<Unsettled::Settled> rest(const Counters& counters, const Crossings& crossings);

  /// Changes begin; no more do.
  void start(Time now) { due_ = now, ended_ = false; }
  void stop() { ended_ = true; }
  bool idle() const { return state_ == State::kIdle; }
  /// A change is under way for no longer than one may take.
  bool busy() const { return !idle() && now_ - begun_ < kLongest; }

  void sample(Time now) override;
  void drive() override {}

  void check(Findings& findings, const Memories& memories) const;
  /// The field `updates` of the open object.
  void write(JsonWriter& json) const;

 private:
  static constexpr Time kLongest = 20'000 * kMicrosecond;  // five times what the largest takes
  enum class State { kIdle, kMaking, kRefused };

  void begin(Time now);
  void done(bool refused);

  const BootImage& image_;
  BootPort& boot_;
  Judge& judge_;
  Unsettled frames_;
  route::RouteTrie routes_;
  std::unique_ptr<route::ChangeSource> changes_;
  Time period_;

  State state_ = State::kIdle;
  bool ended_ = true, asked_ = false;
  route::RouteChange change_;
  Time due_ = 0, begun_ = 0, ask_at_ = 0, now_ = 0;
  std::uint32_t number_ = 0;
  std::uint64_t announced_ = 0, withdrawn_ = 0, refused_ = 0, late_ = 0;
  route::ChangeTimes times_;
};

}  // namespace emery::tile_router

// SPDX-License-Identifier: Apache-2.0
// Routes that come and go while frames flow, as BGP has it: what changes, how the driver tells the
// cards, and which frames may see which routes.
//
// A change is drawn from the seed (bench/route/churn.hpp). It is announced to the judge `lead`
// before the driver begins with it, since a frame may wait so long for its lookup; then the driver
// changes its own table and writes to one card after the other what CardRoutes says, 64 entries at
// a time, after which it waits until the card's memory has taken them. A change begins when the one
// before is done on all cards, so a node that is free is not used again within `lead`. An
// approximation: it is a CPU of its own that does so; only its accesses to the bus take time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/route/churn.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {

struct UpdateConfig {
  double per_second;
  std::uint64_t seed;
  Time lead;
  unsigned ports;
};

using route::Destination;

class Updates {
 public:
  Updates(const UpdateConfig& config, const Routes& routes,
          const std::vector<Destination>& destinations, Host& host, Reference& reference,
          std::vector<CardRoutes>& cards);

  /// A change is announced.
  std::function<void()> on_change;

  /// On the bus clock. No change begins once `ending`.
  void poll(Time now, bool ending);
  bool idle() const { return state_ == State::kIdle; }
  /// The object that is open.
  void write(JsonWriter& json) const;

 private:
  enum class State { kIdle, kLead, kWriting };
  void begin(Time now);
  void next_part(Time now);

  UpdateConfig config_;
  route::Churn churn_;
  Host& host_;
  Reference& reference_;
  std::vector<CardRoutes>& cards_;

  State state_ = State::kIdle;
  RouteChange change_;
  Time due_ = 0, begun_ = 0;
  unsigned card_ = 0;
  std::vector<CardRoutes::Write> writes_;
  std::size_t written_ = 0;
  bool answered_ = true;  // the card has taken what it was sent

  std::uint64_t announced_ = 0, withdrawals_ = 0, entries_ = 0, late_ = 0;
  Time longest_ = 0, all_ = 0;
};

}  // namespace emery::direct_router

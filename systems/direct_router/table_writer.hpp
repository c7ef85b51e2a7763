// SPDX-License-Identifier: Apache-2.0
// How the driver changes a route in all cards while frames flow, and when the judge hears of it.
//
// A change is announced to the judge `lead` before the driver begins with it, since a frame may
// wait so long for its lookup (at once, where there is none inside); then the driver changes its
// own table and writes to one card after the other what CardRoutes says, 64 entries at a time,
// after which it waits until the card's memory has taken them. A change begins when the one before
// is done on all cards, so a node that is free is not used again within `lead`. An approximation:
// it is a CPU of its own that does so; only its accesses to the bus take time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/route/churn.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {

class TableWriter {
 public:
  TableWriter(Time lead, Host& host, Reference& reference, std::vector<CardRoutes>& cards)
      : lead_(lead), host_(host), reference_(reference), cards_(cards) {}

  /// A change is announced.
  std::function<void()> on_change;

  bool idle() const { return state_ == State::kIdle; }
  /// While idle. `inside`: there may be frames that have not been looked up.
  void begin(const RouteChange& change, Time now, bool inside = true);
  /// On the bus clock, while it is not idle; true: the change is done.
  bool poll(Time now);
  /// Fields of the open object.
  void write_counts(JsonWriter& json) const;
  void write_times(JsonWriter& json) const;

 private:
  enum class State { kIdle, kLead, kWriting };

  void tell(Time now);
  bool next_part(Time now);

  Time lead_;
  Host& host_;
  Reference& reference_;
  std::vector<CardRoutes>& cards_;

  State state_ = State::kIdle;
  RouteChange change_;
  Time begun_ = 0, waits_ = 0;
  unsigned card_ = 0;
  std::vector<CardRoutes::Write> writes_;
  std::size_t written_ = 0;
  bool answered_ = true;  // the card has taken what it was sent

  std::uint64_t announced_ = 0, withdrawals_ = 0, entries_ = 0;
  route::ChangeTimes times_;
};

}  // namespace emery::direct_router

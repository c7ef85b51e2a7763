// SPDX-License-Identifier: Apache-2.0
// A Linux kernel as the router's control plane: what it forwards by is kept in the cards.
//
// Between steps of the run its tables are looked at (bench/live/rtnetlink.hpp); what of them the
// cards can have, and how they get there from what they have (bench/route/kernel_tables.hpp), is
// then done step by step on the bus. Changes that come meanwhile are looked at when that is done.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "bench/live/rtnetlink.hpp"
#include "bench/route/kernel_tables.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/reference.hpp"
#include "systems/direct_router/table_writer.hpp"

namespace emery::direct_router {

class ControlPlane {
 public:
  /// `interfaces`: the kernel's numbers of those at the ports.
  ControlPlane(Rtnetlink& kernel, std::vector<int> interfaces, Host& host, Reference& reference,
               TableWriter& writer)
      : kernel_(kernel),
        interfaces_(std::move(interfaces)),
        host_(host),
        reference_(reference),
        writer_(writer) {}

  /// Whether frames are inside the cards that may not have been looked up.
  std::function<bool()> frames_inside;

  /// With the simulation at rest.
  void look();
  /// On the bus clock. No step begins once `ending`.
  void poll(Time now, bool ending);
  bool idle() const { return writer_.idle() && (steps_.empty() || ended_); }
  /// The object that is open.
  void write(JsonWriter& json) const;

 private:
  Rtnetlink& kernel_;
  std::vector<int> interfaces_;
  Host& host_;
  Reference& reference_;
  TableWriter& writer_;
  route::CardFib fib_;  // of the cards when all steps are done
  std::deque<route::FibStep> steps_;
  bool ended_ = false;
  std::uint64_t looks_ = 0, next_hops_ = 0;
};

}  // namespace emery::direct_router

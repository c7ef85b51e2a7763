// SPDX-License-Identifier: Apache-2.0
// Resets of one card in the middle of traffic, whatever it is doing, while the others go on; after
// each the host finds the card and sets it up anew. Settings: reset_card, reset_kind, reset_at_us,
// reset_every_us, reset_us, which mean what they do to a device in a slot of its own
// (bench/run/slot_reset.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/run/reset_plan.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/machine.hpp"

namespace emery::direct_router {

class CardReset {
 public:
  explicit CardReset(const Options& options)
      : card_(options.get<int>("reset_card")), plan_(options) {
    if (card_ < 0) plan_.next = kNever;
  }

  /// One is due before `until` of traffic that began at `start`.
  bool due(Time start, Time until) const { return plan_.due(start, until); }

  void strike(Time start, Simulation& simulation, Machine& machine, Host& host,
              const CardRoutes& routes) {
    const auto card = static_cast<unsigned>(card_);
    simulation.run_until(start + plan_.next);
    ResetTimes& reset = resets_.emplace_back();
    reset.at = simulation.now();
    reset.since_start = reset.at - start;
    if (plan_.function) {
      machine.reset_function(card);
      simulation.run_for(plan_.lasts);
      reset.done = simulation.run_until([&] { return !machine.resets_function(card); },
                                        simulation.now() + ResetPlan::kPatience);
    } else {
      machine.hold(card, true);
      simulation.run_for(plan_.lasts);
      machine.hold(card, false);
      simulation.run_for(kMicrosecond);
    }
    host.reopen(card, routes);
    reset.opened = simulation.now() - reset.at;
    plan_.again(simulation.now() - start);
  }

  /// A frame has left at a card's port.
  void left(unsigned card, Time now) {
    if (resets_.empty() || static_cast<int>(card) != card_) return;
    ResetTimes& last = resets_.back();
    if (last.opened != 0 && last.recovered == 0) last.recovered = now - last.at;
  }

  void check(Findings& findings) const {
    for (const ResetTimes& reset : resets_) reset.check(findings);
  }

  /// An array of objects.
  void write(JsonWriter& json) const {
    json.begin_array();
    for (const ResetTimes& reset : resets_) {
      json.begin_object();
      reset.write(json);
      json.end_object();
    }
    json.end_array();
  }

 private:
  int card_;
  ResetPlan plan_;
  std::vector<ResetTimes> resets_;
};

}  // namespace emery::direct_router

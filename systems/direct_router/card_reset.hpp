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
    Reset& reset = resets_.emplace_back();
    reset.at = simulation.now();
    reset.since_start = reset.at - start;
    host.forget(card);
    if (plan_.function) {
      machine.reset_function(card);
      simulation.run_for(plan_.lasts);
      reset.done = simulation.run_until([&] { return !machine.resets_function(card); },
                                        simulation.now() + ResetPlan::kPatience);
    } else {
      machine.hold(card, true);
      simulation.run_for(plan_.lasts);
      machine.hold(card, false);
      // What it asked before is answered first: no card could tell that from what it asks next.
      simulation.run_until([&] { return machine.answered(card); },
                           simulation.now() + ResetPlan::kPatience);
      simulation.run_for(kMicrosecond);
    }
    host.reopen(card, routes);
    reset.opened = simulation.now() - reset.at;
    plan_.again(simulation.now() - start);
  }

  /// A frame has left at a card's port.
  void left(unsigned card, Time now) {
    if (resets_.empty() || static_cast<int>(card) != card_) return;
    resets_.back().first(resets_.back().recovered, now);
  }
  /// The same of frames that take the way through the host: one was taken from a card's rings, or
  /// has left by them.
  void moved(unsigned card, bool sent, Time now) {
    if (resets_.empty() || static_cast<int>(card) != card_) return;
    Reset& last = resets_.back();
    last.first(sent ? last.from_host : last.to_host, now);
  }

  void check(Findings& findings) const {
    for (const Reset& reset : resets_) reset.check(findings);
  }

  /// An array of objects. `host_path`: there is a way through the host.
  void write(JsonWriter& json, bool host_path) const {
    json.begin_array();
    for (const Reset& reset : resets_) {
      json.begin_object();
      reset.write(json);
      if (host_path) {
        json.key("to_host_us");
        ResetTimes::write_us(json, reset.to_host);
        json.key("from_host_us");
        ResetTimes::write_us(json, reset.from_host);
      }
      json.end_object();
    }
    json.end_array();
  }

 private:
  struct Reset : ResetTimes {
    Time to_host = 0, from_host = 0;

    // Something has happened for the first time since the card was set up.
    void first(Time& since, Time now) const {
      if (opened != 0 && since == 0) since = now - at;
    }
  };

  int card_;
  ResetPlan plan_;
  std::vector<Reset> resets_;
};

}  // namespace emery::direct_router

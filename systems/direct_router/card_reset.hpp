// SPDX-License-Identifier: Apache-2.0
// Resets of one card in the middle of traffic, whatever it is doing, while the others go on; after
// each the host finds the card and sets it up anew. Settings: reset_card, reset_kind, reset_at_us,
// reset_every_us, reset_us, which mean what they do to a device in a slot of its own
// (bench/run/slot_reset.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
      : card_(options.get<int>("reset_card")),
        next_(options.fine_us("reset_at_us")),
        every_(options.fine_us("reset_every_us")),
        lasts_(options.us("reset_us")),
        function_(options.get<std::string>("reset_kind") == "function") {
    if (card_ < 0) next_ = kNever;
  }

  /// One is due before `until` of traffic that began at `start`.
  bool due(Time start, Time until) const { return next_ < until - start; }

  void strike(Time start, Simulation& simulation, Machine& machine, Host& host,
              const CardRoutes& routes) {
    const auto card = static_cast<unsigned>(card_);
    simulation.run_until(start + next_);
    Reset& reset = resets_.emplace_back();
    reset.at = simulation.now();
    reset.since_start = reset.at - start;
    if (function_) {
      machine.reset_function(card);
      simulation.run_for(lasts_);
      reset.done = simulation.run_until([&] { return !machine.resets_function(card); },
                                        simulation.now() + kPatience);
    } else {
      machine.hold(card, true);
      simulation.run_for(lasts_);
      machine.hold(card, false);
      simulation.run_for(kMicrosecond);
    }
    host.reopen(card, routes);
    reset.opened = simulation.now() - reset.at;
    next_ = every_ ? simulation.now() - start + every_ : kNever;
  }

  /// A frame has left at a card's port.
  void left(unsigned card, Time now) {
    if (resets_.empty() || static_cast<int>(card) != card_) return;
    Reset& last = resets_.back();
    if (last.opened != 0 && last.recovered == 0) last.recovered = now - last.at;
  }

  void check(Findings& findings) const {
    for (const Reset& reset : resets_) {
      if (!reset.done) findings.add("a function-level reset does not end");
    }
  }

  /// An array of objects.
  void write(JsonWriter& json) const {
    const auto us = [](Time time) { return static_cast<double>(time) / kMicrosecond; };
    json.begin_array();
    for (const Reset& reset : resets_) {
      json.begin_object()
          .field("at_us", us(reset.since_start))
          .field("opened_us", us(reset.opened))
          .key("recovered_us");
      reset.recovered ? json.value(us(reset.recovered)) : json.null();
      json.end_object();
    }
    json.end_array();
  }

 private:
  static constexpr Time kPatience = 100 * kMicrosecond;

  struct Reset {
    Time at = 0, since_start = 0, opened = 0, recovered = 0;
    bool done = true;
  };

  int card_;
  Time next_, every_, lasts_;  // next_: of traffic
  bool function_;              // level
  std::vector<Reset> resets_;
};

}  // namespace emery::direct_router

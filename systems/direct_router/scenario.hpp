// SPDX-License-Identifier: Apache-2.0
// Where each input sends, and what goes wrong with which card.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "systems/direct_router/machine.hpp"

namespace emery::direct_router {

struct Scenario {
  unsigned cards = 0;
  std::vector<std::vector<unsigned>> outputs;  // by input; empty: it is silent
  bool slow = false;                           // everything through the host
  bool in_turn = false;                        // the outputs of an input in turn, not at random

  /// From what scenario.py made: `outputs` is `1,2/2/-`, by input; `-`: it is silent.
  static Scenario from(const Options& options) {
    Scenario s;
    s.slow = options.get<bool>("slow_path");
    s.in_turn = options.get<bool>("in_turn");
    std::istringstream inputs(options.get<std::string>("outputs"));
    for (std::string list, output; std::getline(inputs, list, '/');) {
      std::vector<unsigned>& to = s.outputs.emplace_back();
      for (std::istringstream in(list); list != "-" && std::getline(in, output, ',');)
        to.push_back(static_cast<unsigned>(std::stoul(output)));
    }
    s.cards = static_cast<unsigned>(s.outputs.size());
    return s;
  }
};

struct CardFaults {
  int dead_card, stalled_card, fault_card, reset_card;  // -1: none
  bool hostile;                                         // what is wrong with fault_card
  Time dead_at, stall_at, stall_for;

  CardFaults(const Options& options, unsigned cards)
      : dead_card(options.get<int>("dead_card")),
        stalled_card(options.get<int>("stalled_card")),
        fault_card(options.get<int>("fault_card")),
        reset_card(options.get<int>("reset_card")),
        hostile(options.get<std::string>("fault") == "hostile_registers"),
        dead_at(options.fine_us("dead_at_us")),
        stall_at(options.fine_us("stall_at_us")),
        stall_for(options.fine_us("stall_us")) {
    if (options.get<std::string>("fault") == "none") fault_card = -1;
    for (const int card : {dead_card, stalled_card, fault_card, reset_card}) {
      if (card >= static_cast<int>(cards))
        throw OptionError("there is no card " + std::to_string(card) + " to fail");
    }
  }
  /// What will happen, counted from now.
  void plan(Simulation& simulation, Machine& machine) const {
    const Time start = simulation.now();
    if (dead_card >= 0) {
      simulation.at(start + dead_at, [&machine, card = static_cast<unsigned>(dead_card)](Time) {
        machine.set_dead(card);
        machine.set_reset(card, true);
      });
    }
    if (stalled_card >= 0) {
      const auto card = static_cast<unsigned>(stalled_card);
      const Time from = start + stall_at;
      simulation.at(from, [&machine, card](Time) { machine.set_stalled(card, true); });
      simulation.at(from + stall_for, [&machine, card](Time) { machine.set_stalled(card, false); });
    }
  }
  bool any() const { return stalled_card >= 0 || fault_card >= 0 || lost(); }

  /// The card whose counters nobody believes any more, and why frames from and to it may be
  /// missing.
  struct Lost {
    unsigned card;
    const char* reason;
  };
  std::optional<Lost> lost() const {
    if (dead_card >= 0) return Lost{static_cast<unsigned>(dead_card), "dead_card"};
    if (hostile) return Lost{static_cast<unsigned>(fault_card), "hostile_card"};
    if (reset_card >= 0) return Lost{static_cast<unsigned>(reset_card), "reset"};
    return {};
  }
  bool lost(unsigned card) const { return lost() && lost()->card == card; }
};

}  // namespace emery::direct_router

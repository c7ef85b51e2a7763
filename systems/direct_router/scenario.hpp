// SPDX-License-Identifier: Apache-2.0
// Where each input sends, and what goes wrong with which card.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"

namespace emery::direct_router {

struct Scenario {
  unsigned cards = 0;
  std::vector<std::vector<unsigned>> outputs;  // by input; empty: it is silent
  bool slow = false;                           // everything through the host
  bool in_turn = false;                        // the outputs of an input in turn, not at random

  static Scenario from(const Options& options) {
    Scenario s;
    s.slow = options.get<bool>("slow_path");
    s.cards = options.get<unsigned>("cards");
    const auto config = options.get<std::string>("config");
    const auto pattern = options.get<std::string>("pattern");
    if (config == "none") {
      s.spread(pattern);
    } else {
      s.take(config);
    }
    if (s.cards > options.get<unsigned>("max_cards")) {
      throw OptionError("cards: " + std::to_string(s.cards) +
                        " cards need max_cards=" + std::to_string(s.cards) + " at least");
    }
    return s;
  }

 private:
  void spread(const std::string& pattern) {
    outputs.resize(cards);
    for (unsigned i = 0; i < cards; ++i) {
      if (pattern == "permutation") outputs[i] = {(i + 1) % cards};
      if (pattern == "hotspot") outputs[i] = {i == 0 ? 1u : 0u};
      for (unsigned o = 0; o < cards && pattern == "uniform"; ++o) {
        if (o != i) outputs[i].push_back(o);
      }
    }
  }

  // Figure 3 of the paper.
  void take(const std::string& config) {
    static const std::map<std::string, std::vector<std::vector<unsigned>>> kConfigs = {
        {"A", {{1}, {}}},      {"B", {{1}, {}}},        {"C", {{1}, {0}}},
        {"D", {{2}, {2}, {}}}, {"E", {{1, 2}, {}, {}}}, {"F", {{1, 2}, {2, 0}, {0, 1}}},
    };
    const auto it = kConfigs.find(config);
    if (it == kConfigs.end()) throw OptionError("config: there is no configuration " + config);
    outputs = it->second;
    cards = static_cast<unsigned>(outputs.size());
    slow = slow || config == "A";
    in_turn = true;
  }
};

struct CardFaults {
  int dead_card, stalled_card;  // -1: none
  Time dead_at, stall_at, stall_for;

  CardFaults(const Options& options, unsigned cards)
      : dead_card(options.get<int>("dead_card")),
        stalled_card(options.get<int>("stalled_card")),
        dead_at(options.fine_us("dead_at_us")),
        stall_at(options.fine_us("stall_at_us")),
        stall_for(options.fine_us("stall_us")) {
    for (const int card : {dead_card, stalled_card}) {
      if (card >= static_cast<int>(cards))
        throw OptionError("there is no card " + std::to_string(card) + " to fail");
    }
  }
  bool any() const { return dead_card >= 0 || stalled_card >= 0; }
  bool dead(unsigned card) const { return static_cast<int>(card) == dead_card; }
};

}  // namespace emery::direct_router

// SPDX-License-Identifier: Apache-2.0
// What the router is to say for itself (bench/route/control.hpp), held against what its control
// tile says: each answer must be, byte for byte, one that is due at that port; each number of an
// IP packet comes once; and all that the tiles count must add up. The tile may be too busy for a
// packet, send no more errors than `icmp_rate` allows, or find an output's queue full; all three
// are counted, and nothing else may be missing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/route/control.hpp"
#include "bench/sim/options.hpp"
#include "bench/stats/findings.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/counters.hpp"

namespace emery::tile_router {

class Host {
 public:
  Host(const Options& options, const BootImage& image, const route::Routes& routes);

  /// A frame that came in at a port, as it came, and goes nowhere for that reason.
  void asked(const char* drop, std::span<const std::uint8_t> frame, unsigned port, Time now);
  /// Whether a frame that came out at a port is an answer that was due: since when. Not any more.
  std::optional<Time> said(unsigned port, std::span<const std::uint8_t> frame);

  /// By what the tiles have counted, nothing is under way to an answer.
  bool settled(const Counters& counters) const;
  /// What does not add up.
  void account(const Counters& counters, Time now, Findings& findings) const;

 private:
  using Bytes = std::vector<std::uint8_t>;
  struct Due {
    const char* kind = nullptr;
    std::deque<Time> since;
  };

  static route::ControlConfig config(const BootImage& image);

  route::RouteTrie trie_;
  route::Control control_;  // without limits: they depend on when the tile has time
  double rate_;
  unsigned burst_;
  std::map<std::pair<unsigned, Bytes>, Due> due_;  // by port and answer, without what numbers it
  std::uint64_t asked_ = 0, answers_ = 0;
  std::map<std::string, std::uint64_t> said_;  // by kind
  std::map<unsigned, std::uint64_t> numbers_;
};

}  // namespace emery::tile_router

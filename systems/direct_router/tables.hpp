// SPDX-License-Identifier: Apache-2.0
// What a router is set up with: routes, its own addresses, what frames are classified by.
//
// A file of routes has lines of two more kinds, `#` and empty lines as in bench/route/routes.hpp:
//   address 10.1.0.1 1                the router's own address at port 1: it answers for itself
//   class 0 [to 2] [tos 0xb8/0xfc] [src 10.0.0.0/8] [dst 10.2.0.0/16] [protocol 17]
// A packet that is to leave at the port (or at any) and matches all that is said is of that class:
// the 80 bits of a card's mask. What no line matches is of the last class. A card has one mask for
// each port and class but the last. Lines of classes replace those that `qos` has without them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "systems/direct_router/routes.hpp"

namespace emery::direct_router {

/// Types of service of the classes but the last, compared under kTosMask, when no file says else.
inline constexpr std::array<std::uint8_t, 3> kTos = {0xb8, 0x88, 0x48};
inline constexpr std::uint8_t kTosMask = 0xfc;

struct ClassRule {
  unsigned cls = 0;
  std::optional<unsigned> port;  // where the packet leaves; any
  std::uint8_t tos = 0, tos_mask = 0, protocol = 0, protocol_mask = 0;
  Route source{}, destination{};  // prefixes

  /// Whether there is a mask of this class for frames that leave there.
  bool at(unsigned to) const { return !port || *port == to; }
};

struct Tables {
  Routes routes;
  std::vector<std::uint32_t> addresses;  // by port, 0: none; empty: nobody answers
  std::vector<ClassRule> classes;        // of each class, those of a port before those of any
  bool own_classes = false;              // they are the file's

  /// The routes of `routes`, a file, or of default_routes; with `own_addresses` ports without a
  /// line have the first address of their first route. OptionError for what the other settings do
  /// not go with.
  static Tables make(const Options& options, unsigned ports, bool everything);
};

}  // namespace emery::direct_router

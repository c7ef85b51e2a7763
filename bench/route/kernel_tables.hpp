// SPDX-License-Identifier: Apache-2.0
// What a Linux kernel forwards IPv4 by, as rtnetlink tells it (bench/live/rtnetlink.hpp): routes of
// the tables `local` and `main`, neighbours that are resolved, whether it forwards at all; and what
// of it router cards can take over from it.
//
// A card sends an address to a port with that port's one next-hop MAC address. So of a port's
// neighbours one station is in the cards: the one that most routes lead to. All else is left to the
// kernel, by an entry that says so where a shorter prefix would take it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace emery::route {

struct KernelRoute {
  int interface = 0;
  std::uint32_t gateway = 0;      // 0: the destination is on the link
  const char* to_host = nullptr;  // why it is none of one gateway or link

  bool operator==(const KernelRoute&) const = default;
};

struct KernelTables {
  struct Key {
    std::uint32_t prefix;
    unsigned length, tos, metric;

    auto operator<=>(const Key&) const = default;
  };
  /// Of the same key the kernel takes the first.
  using Table = std::map<Key, std::vector<KernelRoute>>;
  using Neighbour = std::pair<int, std::uint32_t>;  // interface, address

  Table main, local;
  std::map<Neighbour, std::uint64_t> stations;  // their MAC addresses; resolved ones only
  std::map<int, bool> forwards;                 // by interface
  unsigned rules = 0;                           // besides the three there always are
};

/// A prefix and its length.
using Prefix = std::pair<std::uint32_t, unsigned>;

/// What the cards are to have.
struct CardFib {
  /// MAC address of each port's next hop.
  std::vector<std::optional<std::uint64_t>> next_hop;
  /// The port of each prefix; the number of ports: the host.
  std::map<Prefix, unsigned> routes;
  /// Routes and neighbours that are left to the kernel, by reason.
  std::map<std::string, std::uint64_t> to_host;
};

/// `interfaces`: those of the kernel at the ports. `before`: what the cards have now; a next hop
/// changes only for one that more routes lead to.
CardFib card_fib(const KernelTables& kernel, const std::vector<int>& interfaces,
                 const CardFib& before);

/// A step from one such table to another.
struct FibStep {
  enum class Kind { kRoute, kWithdraw, kNextHop } kind;
  Prefix prefix{};
  unsigned port = 0;
  std::uint64_t next_hop = 0;
};

/// From `before` to `after`, in an order in which every address goes where it did before or where
/// it will go, or to the host meanwhile: routes to a port are with the host while its next hop
/// changes; longer prefixes come before shorter ones, and what goes is withdrawn last, shorter
/// ones first.
std::vector<FibStep> fib_steps(const CardFib& before, const CardFib& after);

}  // namespace emery::route

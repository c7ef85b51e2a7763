// SPDX-License-Identifier: Apache-2.0
// Routes of the whole router, and what of them a card is loaded with.
//
// A card forwards by itself what its ternary table matches, one entry a peer: enough while no peer
// has more than one prefix and no two prefixes overlap (the paper's case). Otherwise it gets a trie
// for longest-prefix match, 16 entries a node, leaf-pushed, its first nodes in block RAM and the
// others in the card's memory; what does not fit into its nodes is left to the host, as are routes
// back to the card itself and addresses without a route.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/route/routes.hpp"

namespace emery::direct_router {

using route::Route, route::Routes, route::RouteTrie;

/// Port p owns 10.p.0.0/16. With `everything`, the rest of the address space is dealt to the ports
/// as well, in turn, by /12.
Routes default_routes(unsigned ports, bool everything);

/// What one card is loaded with.
class CardRoutes {
 public:
  static constexpr std::uint32_t kNode = 1u << 31, kSlow = 0x8000;

  /// `nodes`: what its trie has.
  /// `own`: addresses that the host is to get, 0: none.
  CardRoutes(const Routes& routes, const std::vector<std::uint32_t>& own, unsigned card,
             unsigned ports, unsigned nodes);

  /// The number that card `from` has for another one.
  static unsigned peer(unsigned from, unsigned to) { return to < from ? to : to - 1; }
  static unsigned card(unsigned from, unsigned peer) { return peer < from ? peer : peer + 1; }

  /// By peer; only without a trie.
  const std::vector<std::optional<Route>>& ternary() const { return ternary_; }
  bool trie() const { return !entries_.empty(); }
  /// Entry 16 * node + nibble, in the card's format.
  const std::vector<std::uint32_t>& entries() const { return entries_; }
  /// Nodes that all routes need; subtrees left to the host for want of them.
  std::size_t needed() const { return needed_; }
  unsigned cut() const { return cut_; }

  /// The port the card sends an address to by itself.
  std::optional<unsigned> find(std::uint32_t address) const;

 private:
  bool make_ternary(const Routes& routes);
  void make_trie(const Routes& routes, unsigned nodes);

  unsigned card_, ports_;
  std::vector<std::optional<Route>> ternary_;
  std::vector<std::uint32_t> entries_;
  std::size_t needed_ = 0;
  unsigned cut_ = 0;
};

}  // namespace emery::direct_router

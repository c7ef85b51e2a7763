// SPDX-License-Identifier: Apache-2.0
// Routes of the whole router, and what of them a card is loaded with.
//
// A card forwards by itself what its ternary table matches, one entry a peer: enough while no peer
// has more than one prefix and no two prefixes overlap (the paper's case). Otherwise it gets a trie
// for longest-prefix match, 16 entries a node, leaf-pushed, its first nodes in block RAM and the
// others in the card's memory; what does not fit into its nodes is left to the host, as are routes
// back to the card itself, those to no card (the port after the last) and addresses without a
// route.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bench/route/routes.hpp"

namespace emery::direct_router {

using route::Route, route::RouteChange, route::Routes, route::RouteTrie;

/// Port p owns 10.p.0.0/16. With `everything`, the rest of the address space is dealt to the ports
/// as well, in turn, by /12.
Routes default_routes(unsigned ports, bool everything);

/// What one card is loaded with.
class CardRoutes {
 public:
  static constexpr std::uint32_t kNode = 1u << 31, kSlow = 0x8000;

  /// `nodes`: what its trie has.
  /// `own`: addresses that the host is to get, 0: none.
  /// `changing`: it gets a trie, whatever the routes.
  CardRoutes(const Routes& routes, const std::vector<std::uint32_t>& own, unsigned card,
             unsigned ports, unsigned nodes, bool changing = false);

  /// The number that card `from` has for another one.
  static unsigned peer(unsigned from, unsigned to) { return to < from ? to : to - 1; }
  static unsigned card(unsigned from, unsigned peer) { return peer < from ? peer : peer + 1; }

  /// By peer; only without a trie.
  const std::vector<std::optional<Route>>& ternary() const { return ternary_; }
  bool trie() const { return !entries_.empty(); }
  /// Entry 16 * node + nibble, in the card's format.
  const std::vector<std::uint32_t>& entries() const { return entries_; }
  /// Nodes that are in use; that all routes of the start need; subtrees left to the host for want
  /// of them.
  std::size_t nodes() const { return entries_.size() / 16 - free_.size() - freed_.size(); }
  std::size_t needed() const { return needed_; }
  unsigned cut() const { return cut_; }

  /// An entry's number and what is to be in it.
  using Write = std::pair<std::uint32_t, std::uint32_t>;
  /// The writes that make the table that of `routes`, which differ from what it was made of before
  /// by this route: in this order each address has its old result or its new one at any time. Nodes
  /// come together before the entry that leads to them is written; those that nothing leads to any
  /// more are used again by the next change, so no lookup of before may be under way then.
  std::vector<Write> change(const RouteTrie& routes, const Route& route);

  /// The port the card sends an address to by itself.
  std::optional<unsigned> find(std::uint32_t address) const;

 private:
  /// What an entry is to lead to: a result, or 16 entries.
  struct Want {
    std::uint32_t result = kSlow;
    std::vector<Want> below;
  };

  std::uint32_t result(int port) const;
  Want want(const RouteTrie& routes, RouteTrie::Place at, unsigned depth) const;
  std::optional<std::uint32_t> fix(const RouteTrie& routes, const Route& route, std::size_t node,
                                   unsigned depth, RouteTrie::Place at, std::vector<Write>& writes);
  void put(std::size_t entry, const Want& want, std::vector<Write>& writes);
  std::uint32_t build(const Want& want, std::vector<Write>& writes);
  void set(std::size_t entry, std::uint32_t value, std::vector<Write>& writes);
  void release(std::uint32_t node);

  bool make_ternary(const Routes& routes);
  void make_trie(const Routes& routes, unsigned nodes);

  unsigned card_, ports_, room_;
  std::vector<std::optional<Route>> ternary_;
  std::vector<std::uint32_t> free_, freed_;  // nodes; by the last change
  std::vector<std::uint32_t> entries_;
  std::size_t needed_ = 0;
  unsigned cut_ = 0;
};

}  // namespace emery::direct_router

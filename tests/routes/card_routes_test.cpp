// SPDX-License-Identifier: Apache-2.0
// A card's longest-prefix table under changes, against a search of every prefix length: what it
// says after each, what any lookup may see while the writes of one go out one by one, that no node
// is lost, and what becomes of routes that it has no nodes for.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"
#include "systems/direct_router/routes.cpp"

namespace emery::direct_router {
namespace {

Checks checks;
constexpr unsigned kPorts = 5, kCard = 2;
using route::PrefixTables;
using Port = std::optional<unsigned>;

/// Where a card is to send it: own and missing routes go to the host.
Port by_card(const PrefixTables& tables, std::uint32_t address) {
  const Port port = tables.find(address);
  return port == kCard ? std::nullopt : port;
}

/// The card itself: entries as they were written, in their order, and a walk that may begin before
/// some of them and go on after.
class Card {
 public:
  explicit Card(const CardRoutes& routes) : entries_(routes.entries()) {}

  void write(const CardRoutes::Write& w) {
    if (w.first >= entries_.size()) entries_.resize(16 * (w.first / 16 + 1), 0);
    entries_[w.first] = w.second;
  }
  struct Walk {
    std::uint32_t address = 0, node = 0;
    int level = 0;
    bool done = false;
    std::uint32_t result = 0;
  };
  void step(Walk& walk) const {
    if (walk.done) return;
    const std::uint32_t entry =
        entries_[16 * walk.node + (walk.address >> (28 - 4 * walk.level) & 15)];
    ++walk.level;
    walk.done = !(entry & CardRoutes::kNode) || walk.level == 8;
    walk.result = entry & CardRoutes::kNode ? ~0u : entry;
    walk.node = entry & ~CardRoutes::kNode;
  }

 private:
  std::vector<std::uint32_t> entries_;
};

Port port_of(std::uint32_t result) {
  if (result & CardRoutes::kSlow) return std::nullopt;
  return CardRoutes::card(kCard, result & 15);
}

Route random_route(Random& random) {
  Route route{static_cast<std::uint32_t>(random.next()) & 0xff03'00ffu,
              static_cast<unsigned>(random.below(33)), static_cast<unsigned>(random.below(kPorts))};
  route.prefix &= route.mask();
  return route;
}

void test_changes(std::uint64_t seed, unsigned room) {
  Random random(seed);
  std::map<std::pair<std::uint32_t, unsigned>, unsigned> table;
  Routes start;
  for (int i = 0; i < 60; ++i) {
    const Route r = random_route(random);
    if (table.try_emplace({r.prefix, r.length}, r.port).second) start.push_back(r);
  }
  RouteTrie trie(start);
  PrefixTables tables(start);
  CardRoutes card(start, {}, kCard, kPorts, room, true);
  Card device(card);
  unsigned wrong = 0, neither = 0, differ = 0, walks = 0;
  for (int n = 0; n < 1500; ++n) {
    // Now and then nearly all goes, and comes again.
    const bool shrink = n / 300 % 2 == 1;
    Route route = random_route(random);
    const bool withdraw = random.below(8) < (shrink ? 7u : 3u) && !table.empty();
    if (withdraw) {
      auto it = table.lower_bound({route.prefix, 0});
      if (it == table.end()) it = table.begin();
      route = {it->first.first, it->first.second, it->second};
      table.erase(it);
    } else {
      table[{route.prefix, route.length}] = route.port;
    }
    const PrefixTables old = tables;
    tables.change({route, withdraw});
    trie.change({route, withdraw});
    const auto writes = card.change(trie, route);
    // Lookups of addresses under it, which go a level on with each write, or stay a while.
    std::vector<Card::Walk> under_way(12);
    for (Card::Walk& walk : under_way)
      walk.address = route.prefix | (static_cast<std::uint32_t>(random.next()) & ~route.mask());
    std::size_t written = 0;
    while (true) {
      for (Card::Walk& walk : under_way) {
        if (random.below(3) != 0) device.step(walk);
        if (!walk.done) continue;
        const Port got = walk.result == ~0u ? Port(99) : port_of(walk.result);
        const Port before = by_card(old, walk.address), after = by_card(tables, walk.address);
        ++walks;
        if (card.cut() == 0) neither += got != before && got != after;
        wrong += got && got != before && got != after;
        walk = {route.prefix | (static_cast<std::uint32_t>(random.next()) & ~route.mask())};
      }
      if (written == writes.size()) break;
      device.write(writes[written++]);
    }
    for (Card::Walk& walk : under_way) {  // of before: the next change may use its nodes
      while (!walk.done) device.step(walk);
    }
    for (int i = 0; i < 40; ++i) {
      Card::Walk walk{i % 2 ? static_cast<std::uint32_t>(random.next()) & 0xff03'00ffu
                            : route.prefix |
                                  (static_cast<std::uint32_t>(random.next()) & ~route.mask())};
      while (!walk.done) device.step(walk);
      const Port got = port_of(walk.result), want = by_card(tables, walk.address);
      differ += got != card.find(walk.address);
      if (card.cut() == 0) wrong += got != want;
      wrong += got && got != want;
    }
  }
  checks.equal(wrong, 0u, "wrong results");
  checks.equal(neither, 0u, "lookups that saw neither old nor new");
  checks.equal(differ, 0u, "the card and its picture differ");
  checks.that(walks > 3000, "lookups were under way");
  checks.equal(card.cut() != 0, room < 500, "nodes were missing only where they are few");
  if (card.cut() != 0) return;
  // A table made anew of the same routes has as many nodes.
  Routes now;
  for (const auto& [at, port] : table) now.push_back({at.first, at.second, port});
  checks.equal(card.nodes(), CardRoutes(now, {}, kCard, kPorts, room, true).nodes(),
               "no node is lost");
  for (const Route& route : now) {
    trie.change({route, true});
    card.change(trie, route);
  }
  card.change(trie, {});
  checks.equal(card.nodes(), std::size_t{1}, "an empty table is its root");
}

}  // namespace
}  // namespace emery::direct_router

int main() {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) emery::direct_router::test_changes(seed, 65536);
  emery::direct_router::test_changes(7, 40);
  return emery::direct_router::checks.finish();
}

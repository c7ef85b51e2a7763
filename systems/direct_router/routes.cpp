// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/routes.hpp"

#include <algorithm>
#include <array>

namespace emery::direct_router {
namespace {

RouteTrie::Place down4(const RouteTrie& routes, RouteTrie::Place at, unsigned nibble) {
  for (int bit = 3; bit >= 0; --bit) at = routes.down(at, nibble >> bit & 1);
  return at;
}

}  // namespace

Routes default_routes(unsigned ports, bool everything) {
  Routes routes;
  for (unsigned p = 0; p < ports; ++p) routes.push_back({10u << 24 | p << 16, 16, p});
  if (everything) {
    for (unsigned block = 0; block < 4096; ++block)
      routes.push_back({block << 20, 12, block % ports});
  }
  return routes;
}

CardRoutes::CardRoutes(const Routes& routes, const std::vector<std::uint32_t>& own, unsigned card,
                       unsigned ports, unsigned nodes, bool changing)
    : card_(card), ports_(ports), room_(nodes), ternary_(ports - 1) {
  Routes all = routes;
  for (const std::uint32_t address : own) {
    if (address != 0) all.push_back({address, 32, card});  // leads back, so to the host
  }
  if (changing || !make_ternary(all)) make_trie(all, nodes);
}

bool CardRoutes::make_ternary(const Routes& routes) {
  if (routes.size() > ports_) return false;
  for (const Route& a : routes) {
    for (const Route& b : routes) {
      const std::uint32_t mask = a.mask() & b.mask();
      if (!(a == b) && (a.port == b.port || (a.prefix & mask) == (b.prefix & mask))) return false;
    }
  }
  for (const Route& route : routes) {
    if (route.port != card_) ternary_[peer(card_, route.port)] = route;
  }
  return true;
}

void CardRoutes::make_trie(const Routes& routes, unsigned room) {
  struct Entry {
    std::int32_t child = -1;
    std::uint16_t result = kSlow;
    std::int8_t length = -1;  // of the prefix it is from
  };
  using Node = std::array<Entry, 16>;
  std::vector<Node> nodes(1);
  for (const Route& route : routes) {
    const auto result =
        static_cast<std::uint16_t>(route.port == card_ ? kSlow : peer(card_, route.port));
    std::size_t at = 0;
    unsigned depth = 0;
    for (; route.length > 4 * (depth + 1); ++depth) {
      const unsigned nibble = route.prefix >> (28 - 4 * depth) & 15;
      if (nodes[at][nibble].child < 0) {
        nodes[at][nibble].child = static_cast<std::int32_t>(nodes.size());
        nodes.emplace_back();
      }
      at = static_cast<std::size_t>(nodes[at][nibble].child);
    }
    const unsigned first = route.prefix >> (28 - 4 * depth) & 15;
    const unsigned count = 1u << (4 * (depth + 1) - route.length);
    for (unsigned n = first; n < first + count; ++n) {
      Entry& entry = nodes[at][n];
      if (entry.length > static_cast<int>(route.length)) continue;
      entry.length = static_cast<std::int8_t>(route.length);
      entry.result = result;
    }
  }
  // Results are pushed down to the leaves; children have higher numbers than their parents. Then,
  // from the bottom, a node whose entries all say the same becomes one entry of its parent.
  for (Node& node : nodes) {
    for (const Entry& entry : node) {
      if (entry.child < 0) continue;
      for (Entry& below : nodes[static_cast<std::size_t>(entry.child)]) {
        if (below.length < 0) below.result = entry.result, below.length = entry.length;
      }
    }
  }
  for (std::size_t n = nodes.size(); n-- > 0;) {
    for (Entry& entry : nodes[n]) {
      if (entry.child < 0) continue;
      const Node& child = nodes[static_cast<std::size_t>(entry.child)];
      const bool same = std::all_of(child.begin(), child.end(), [&](const Entry& e) {
        return e.child < 0 && e.result == child[0].result;
      });
      if (same) entry.result = child[0].result, entry.child = -1;
    }
  }
  // Nearest to the root first, as long as there are nodes.
  std::vector<std::size_t> order = {0};
  entries_.clear();
  for (needed_ = 0; needed_ < order.size(); ++needed_) {
    for (const Entry& entry : nodes[order[needed_]]) {
      const std::size_t child = order.size();
      if (entry.child >= 0) order.push_back(static_cast<std::size_t>(entry.child));
      if (needed_ >= room) continue;
      const bool cut = entry.child >= 0 && child >= room;
      cut_ += cut;
      entries_.push_back(entry.child < 0 ? entry.result
                         : cut           ? kSlow
                                         : kNode | static_cast<std::uint32_t>(child));
    }
  }
}

std::uint32_t CardRoutes::result(int port) const {
  const auto to = static_cast<unsigned>(port);
  const bool slow = port < 0 || to == card_ || to >= ports_;
  return slow ? kSlow : peer(card_, static_cast<unsigned>(port));
}

// Behind `depth` nibbles.
CardRoutes::Want CardRoutes::want(const RouteTrie& routes, RouteTrie::Place at,
                                  unsigned depth) const {
  Want want{result(at.port), {}};
  if (depth == 8 || routes.ends(at)) return want;
  want.below.reserve(16);
  for (unsigned n = 0; n < 16; ++n)
    want.below.push_back(this->want(routes, down4(routes, at, n), depth + 1));
  const Want& first = want.below.front();
  const bool same = std::ranges::all_of(
      want.below, [&](const Want& w) { return w.below.empty() && w.result == first.result; });
  if (same) want = Want{first.result, {}};
  return want;
}

std::vector<CardRoutes::Write> CardRoutes::change(const RouteTrie& routes, const Route& route) {
  free_.insert(free_.end(), freed_.begin(), freed_.end());
  freed_.clear();
  std::vector<Write> writes;
  fix(routes, route, 0, 0, routes.root(), writes);
  return writes;
}

// Below a node; what all its entries say then, if that is the same.
std::optional<std::uint32_t> CardRoutes::fix(const RouteTrie& routes, const Route& route,
                                             std::size_t node, unsigned depth, RouteTrie::Place at,
                                             std::vector<Write>& writes) {
  const unsigned bits = 4 * (depth + 1), first = route.prefix >> (32 - bits) & 15;
  const unsigned count = route.length >= bits ? 1 : 1u << (bits - route.length);
  for (unsigned n = first; n < first + count; ++n) {
    const std::size_t entry = 16 * node + n;
    const RouteTrie::Place below = down4(routes, at, n);
    const std::uint32_t value = entries_[entry];
    if (route.length <= bits || !(value & kNode)) {
      put(entry, want(routes, below, depth + 1), writes);
    } else if (const auto one = fix(routes, route, value & ~kNode, depth + 1, below, writes)) {
      set(entry, *one, writes);
    }
  }
  const std::uint32_t all = entries_[16 * node];
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(16 * node);
  if ((all & kNode) || !std::all_of(begin, begin + 16, [&](auto e) { return e == all; }))
    return std::nullopt;
  return all;
}

void CardRoutes::put(std::size_t entry, const Want& want, std::vector<Write>& writes) {
  const std::uint32_t value = entries_[entry];
  if (want.below.empty()) return set(entry, want.result, writes);
  if (!(value & kNode)) return set(entry, build(want, writes), writes);
  for (unsigned n = 0; n < 16; ++n) put(16 * (value & ~kNode) + n, want.below[n], writes);
}

// A node that nothing leads to yet, or the host where there is none left.
std::uint32_t CardRoutes::build(const Want& want, std::vector<Write>& writes) {
  if (want.below.empty()) return want.result;
  std::size_t node = entries_.size() / 16;
  if (!free_.empty()) {
    node = free_.back();
    free_.pop_back();
  } else if (node < room_) {
    entries_.resize(entries_.size() + 16, kSlow);
  } else {
    ++cut_;
    return kSlow;
  }
  std::array<std::uint32_t, 16> values;
  for (unsigned n = 0; n < 16; ++n) values[n] = build(want.below[n], writes);
  for (unsigned n = 0; n < 16; ++n) {
    entries_[16 * node + n] = values[n];
    writes.emplace_back(16 * node + n, values[n]);
  }
  return kNode | static_cast<std::uint32_t>(node);
}

void CardRoutes::set(std::size_t entry, std::uint32_t value, std::vector<Write>& writes) {
  const std::uint32_t before = entries_[entry];
  if (before == value) return;
  entries_[entry] = value;
  writes.emplace_back(entry, value);
  if (before & kNode) release(before & ~kNode);
}

void CardRoutes::release(std::uint32_t node) {
  for (unsigned n = 0; n < 16; ++n) {
    if (entries_[16 * node + n] & kNode) release(entries_[16 * node + n] & ~kNode);
  }
  freed_.push_back(node);
}

std::optional<unsigned> CardRoutes::find(std::uint32_t address) const {
  if (!trie()) {
    for (unsigned p = 0; p < ternary_.size(); ++p) {
      if (ternary_[p] && (address & ternary_[p]->mask()) == ternary_[p]->prefix)
        return card(card_, p);
    }
    return std::nullopt;
  }
  std::uint32_t node = 0;
  for (int shift = 28; shift >= 0; shift -= 4) {
    const std::uint32_t entry = entries_[node * 16 + (address >> shift & 15)];
    if (entry & kNode) {
      node = entry & ~kNode;
      continue;
    }
    if (entry & kSlow) return std::nullopt;
    return card(card_, entry & 15);
  }
  return std::nullopt;
}

}  // namespace emery::direct_router

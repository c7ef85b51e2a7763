// SPDX-License-Identifier: Apache-2.0
// Exact-match steering (n-tuple filters) as its driver sees it: flows, and where each may lie in a
// port's table.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace emery::host_nic {

/// What the flow hash of a frame is over, and its type; 0: it has none.
struct Flow {
  static constexpr unsigned kFields = 36;  // bytes: IPv6 addresses and ports
  std::array<std::uint8_t, kFields> fields{};
  unsigned type = 0;
  std::uint32_t hash = 0;
  auto operator<=>(const Flow&) const = default;
};

/// The table of flow_table.sv: two places for each flow, one in each half. Two choices of one place
/// each hold up to about half as many flows as there are entries.
class FlowPlaces {
 public:
  struct Entry {
    Flow flow;
    unsigned queue = 0;
  };

  /// `entries`: 0 or a power of two.
  explicit FlowPlaces(unsigned entries) : entries_(entries) {}

  /// Puts a flow in, or gives one that is there another queue. The entries to write, in this order:
  /// one that moves is written to its new place before its old one is taken. Empty when there is no
  /// room for it; nothing has changed then.
  std::vector<unsigned> place(const Flow& flow, unsigned queue);
  /// Takes a flow out: the entry to write, if it was there.
  std::optional<unsigned> remove(const Flow& flow);
  const Entry& entry(unsigned at) const { return entries_[at]; }
  unsigned size() const { return static_cast<unsigned>(entries_.size()); }

 private:
  std::array<unsigned, 2> places(const Flow& flow) const;
  std::optional<unsigned> find(const Flow& flow) const;

  std::vector<Entry> entries_;
};

/// A port's table and what was last written to its registers: a word that is there already is not
/// written again.
struct FlowTable {
  static constexpr unsigned kWords = Flow::kFields / 4 + 1;  // the flow, then what becomes of it
  explicit FlowTable(unsigned entries) : places(entries) {}
  FlowPlaces places;
  std::array<std::uint32_t, kWords> written{};
};

}  // namespace emery::host_nic

// SPDX-License-Identifier: Apache-2.0
// Packets of rings that several consumers share: the order of such a ring is that of its blocks,
// whoever takes them, so its packets are kept until all have been taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/run/memory_trace.hpp"
#include "bench/sim/time.hpp"
#include "systems/capture/host.hpp"

namespace emery::capture {

/// Of a traced run: when a packet, and the entry of its block, came to memory.
struct Landed {
  MemoryTrace::Written packet, entry;
};

class SharedRings {
 public:
  struct Packet {
    std::uint32_t block;
    Landed landed;
    Time time;
    std::uint64_t stamp;
    std::vector<std::uint8_t> bytes;
  };

  explicit SharedRings(const ConsumerConfig& config)
      : rings_(config.consumers > config.rings ? config.rings : 0) {}
  bool any() const { return !rings_.empty(); }

  void keep(unsigned ring, const emcap_packet& packet, const Landed& landed, Time now) {
    rings_[ring].push_back(
        {packet.block, landed, now, packet.time_ns, {packet.data, packet.data + packet.stored}});
  }
  /// Calls `take(ring, packet)` for all, ring by ring.
  template <class Take>
  void in_order(const Take& take) {
    for (unsigned r = 0; r < rings_.size(); ++r) {
      std::vector<Packet>& ring = rings_[r];
      std::stable_sort(ring.begin(), ring.end(),
                       [](const Packet& a, const Packet& b) { return a.block < b.block; });
      for (const Packet& packet : ring) take(r, packet);
    }
  }

 private:
  std::vector<std::vector<Packet>> rings_;
};

}  // namespace emery::capture

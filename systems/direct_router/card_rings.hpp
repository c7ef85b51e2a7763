// SPDX-License-Identifier: Apache-2.0
// The rings between the software router and one card, as it uses them: frames of each class come
// in, frames go out, all in buffers of one pool that move from one to the other.
//
// Which rings they are was decided with the machine (machine.hpp): the card's own on PCI-X
// (own_rings.hpp), those of the NIC beside the card on PCI Express (nic_rings.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"

namespace emery::direct_router {

struct RingConfig {
  unsigned classes, slots;  // of each ring, a power of two
  std::uint64_t buffer_bytes;
  std::uint32_t max_frame;  // without FCS
  unsigned tx_prefetch;
  unsigned refill;  // receive buffers given back at once
};

class CardRings {
 public:
  struct Frame {
    std::uint64_t buffer;
    unsigned bytes;
  };

  virtual ~CardRings() = default;

  /// Makes the rings, the receive rings full of buffers of the pool. `bar` is where the card is.
  virtual void start(std::uint64_t bar, std::vector<std::uint64_t>& pool) = 0;

  /// The oldest frame of a class; it stays until `pop`, which gives the ring `buffer` in place of
  /// its own.
  virtual std::optional<Frame> front(unsigned cls) = 0;
  virtual void pop(unsigned cls, std::uint64_t buffer) = 0;

  virtual bool full() const = 0;
  virtual bool empty() const = 0;
  virtual void put(std::uint64_t buffer, unsigned bytes) = 0;
  /// Frames put in that the card was not told of; `tell` tells it.
  virtual unsigned untold() const = 0;
  virtual void tell() = 0;
  /// Gives the buffers of frames that were sent back to the pool; how many.
  virtual unsigned reap(std::vector<std::uint64_t>& pool) = 0;
  /// What the device says besides frames: a queue that it has stopped is set up anew. In each look
  /// of the CPU, when no frame is between `front` and `pop` or promised a place by `full`.
  virtual void serve() {}

  /// The card is being reset, and has forgotten its rings: nothing is asked of them, they are full,
  /// and give back the buffers of what they were to send; until `reopen`, which makes them anew
  /// with the receive buffers they have, where the card is now. It takes simulated time. A frame at
  /// the front stays in the CPU's care. Cards on PCI Express only.
  virtual void forget(std::vector<std::uint64_t>& pool) { static_cast<void>(pool); }
  virtual void reopen() {}

  /// Counters of the rings' own, by what becomes of frames: dropped on the way to the host, lost on
  /// the way from it. Reading registers takes simulated time.
  struct Lost {
    const char* reason;
    bool transmit;
    std::uint64_t frames;
  };
  virtual std::vector<Lost> lost() { return {}; }
  /// Queues set up anew for an error while the others went on; records of frames with one. Nothing:
  /// these rings do not stop.
  struct Restarts {
    std::uint64_t queues = 0, errors = 0;
  };
  virtual std::optional<Restarts> restarts() const { return {}; }
  /// What the device still holds of what it was lent, read like `lost`.
  virtual void find_levels(Findings&) {}
  /// Buffers lent to the rings.
  virtual std::size_t buffers() const = 0;
  virtual void check(Findings&) const {}
};

}  // namespace emery::direct_router

// SPDX-License-Identifier: Apache-2.0
// The host of a capture device: what the capture library (sw/capture) needs of a machine, on the
// bench's root complexes, and the consumers, one a CPU core, that take packets out of the rings
// through it.
//
// Approximation: a consumer's work is a stated time for each packet and for each byte; caches and
// memory bandwidth are not modelled, and looking at host memory takes no time of its own. A
// consumer that has nothing to do sees a progress entry as soon as it is in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "sw/capture/emcap.h"

namespace emery::capture {

/// emcap_ops of some root complexes that share their memory, each with one function.
class Machine {
 public:
  explicit Machine(HostMemory& memory) : memory_(memory) {}
  /// The root complex has enumerated its device.
  void add(RootComplex& root) { roots_.push_back(&root); }
  emcap_ops ops();
  /// Where device writes to the second allocation (the progress entries) are told.
  std::uint64_t allocation(unsigned n) const { return allocations_.at(n).addr; }
  std::uint64_t allocation_bytes(unsigned n) const { return allocations_.at(n).bytes; }

 private:
  struct Allocation {
    std::uint64_t addr, bytes;
    void* memory;
  };
  HostMemory& memory_;
  std::vector<RootComplex*> roots_;
  std::vector<Allocation> allocations_;
};

/// What a run's parameters make of the rings.
emcap_config ring_config(const Options& options);

/// What a badly written consumer does.
enum class Misbehaviour {
  kNone,
  kWrongPut,  // puts packets that are not its oldest
  kNoPut,     // never puts any
};

struct ConsumerConfig {
  unsigned consumers, rings;
  double ns_per_packet, ns_per_byte;
  Misbehaviour misbehaviour = Misbehaviour::kNone;
  unsigned burst = 32;

  /// Throws OptionError when consumers and rings do not go together.
  static ConsumerConfig from(const Options& options);
};

class Consumers {
 public:
  using OnPacket = std::function<void(unsigned ring, const emcap_packet& packet, Time now)>;

  Consumers(emcap* device, const ConsumerConfig& config, OnPacket on_packet);
  ~Consumers();
  Consumers(const Consumers&) = delete;
  Consumers& operator=(const Consumers&) = delete;

  /// Something may be new in a ring.
  void wake(unsigned ring);
  void wake_all();
  /// At each clock.
  void poll(Time now);
  bool idle() const { return active_ == 0; }
  Time busy_until() const;  // when the last of them is through with what it has taken
  /// How long they have worked until now: all together, and the one that did most. Of a burst that
  /// one is at what has gone by.
  struct Busy {
    Time all = 0, most = 0;
  };
  Busy busy(Time now) const;
  std::uint64_t refused() const { return refused_; }

 private:
  struct Consumer {
    std::vector<emcap_consumer*> rings;
    std::vector<unsigned> numbers;
    std::vector<emcap_packet> packets;
    unsigned taken = 0;    // packets being worked on
    std::size_t from = 0;  // the ring they are of
    std::size_t turn = 0;
    unsigned empty = 0;  // rings in a row that had nothing
    bool awake = false;
    Time busy_until = 0, busy = 0;
  };
  void finish(Consumer& consumer);
  bool begin(Consumer& consumer, Time now);

  ConsumerConfig config_;
  OnPacket on_packet_;
  std::vector<Consumer> consumers_;
  std::vector<std::vector<unsigned>> of_ring_;
  unsigned active_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace emery::capture

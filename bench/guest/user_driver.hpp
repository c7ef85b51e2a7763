// SPDX-License-Identifier: Apache-2.0
// A driver in a process of its own, in user space, that reaches its card over a socket and shares
// its memory with it (sw/dpdk/sim_link.h).
//
// Simulated time goes by only while a request of the driver is answered, by as much as that says:
// what a CPU does takes the time that the driver states for it. A read takes what it takes; a write
// is posted, and waits when the link has no room for more.
//
// But for sleep: while queues wait for interrupts and nothing is asked for, for kSilence of the
// clock on the wall, simulated time goes by until an interrupt comes, which wakes the driver. From
// then on it stands still again until all queues wait: what the driver does with one that it was
// woken for is given kPatience. So what a driver with one core and one queue that waits does is the
// same once more; with more queues, as long as it is not left without a processor for that long.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/pcie/host_memory.hpp"
#include "bench/sim/simulation.hpp"
#include "sw/dpdk/sim_link.h"

namespace emery {

class UserDriver {
 public:
  struct Facts {
    std::uint64_t address, bits_per_second;  // of the station, of the line
  };
  struct Stats {
    std::uint64_t polls = 0, reads = 0, writes = 0, wakes = 0;
  };

  UserDriver(Simulation& simulation, HostInterface& host, HostMemory& memory, Facts facts);
  ~UserDriver();
  UserDriver(const UserDriver&) = delete;
  UserDriver& operator=(const UserDriver&) = delete;

  /// Answers until it has gone. Throws ChannelError when what it says makes no sense.
  void serve(const Descriptor& socket);

  /// The driver is in a burst or sleeps, and that much time is to go by; called instead of letting
  /// it go by.
  std::function<void(Time)> on_poll;
  /// Nothing more is to be sent.
  std::function<bool()> ends;
  const Stats& stats() const { return stats_; }

 private:
  static constexpr int kSilence = 2, kPatience = 100;  // ms

  // A receive queue with an event descriptor.
  struct Queue {
    enum class State { kUnused, kArms, kWaits, kAwake };
    Descriptor event;
    unsigned vector;
    State state = State::kUnused;
  };

  bool answer(const Descriptor& socket);
  void sleep(const Descriptor& socket);
  bool waits() const;
  void wait(Queue& queue, std::uint64_t how);
  void wake(unsigned vector);
  std::uint64_t lead_vectors(std::uint64_t count);
  std::uint64_t add_queue(const sim_message& m, std::vector<Descriptor>& with);
  std::uint64_t share(std::uint64_t addr, std::uint64_t bytes, const std::vector<Descriptor>& with);

  struct Mapping {
    void* at;
    std::size_t bytes;
  };

  Simulation& simulation_;
  HostInterface& host_;
  HostMemory& memory_;
  Facts facts_;
  Stats stats_;
  std::vector<Mapping> mappings_;
  std::uint64_t vectors_ = 0;  // that lead to the driver
  std::map<std::uint64_t, Queue> queues_;
};

}  // namespace emery

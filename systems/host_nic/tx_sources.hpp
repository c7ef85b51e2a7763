// SPDX-License-Identifier: Apache-2.0
// What the interfaces send. Each has a source whose flows are dealt to its queues; or, with
// queue_rates, each queue has one of its own: one whose ring is full waits alone, as the sockets
// behind a real queue would.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/pcie/root_complex.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

class TxSources {
 public:
  TxSources(const Options& options, unsigned interfaces, Driver& driver, RootComplex& root);
  /// Queues have sources of their own.
  bool by_queue() const { return !rates_.empty(); }
  /// So many flows in a row go to one queue, where an interface has one source.
  std::uint32_t deal_count() const;

  /// Makes the sources of an interface, of the plan for all its queues.
  using Make = std::function<Source&(const TrafficConfig& plan, bool all)>;
  void add(unsigned interface, const TrafficConfig& plan, const Make& make);

  /// Offers what is due, as far as rings and backlog allow: `offer(queue, flow, frame)` is false
  /// when the queue has no room. Of queues with sources some are looked at, others in the next
  /// clocks.
  template <class Offer>
  void feed(unsigned interface, Time now, const Offer& offer) {
    Interface& all = interfaces_[interface];
    const unsigned queues = driver_.tx_queues();
    const std::size_t count = all.by_queue.size();
    for (std::size_t n = 0; n < std::min<std::size_t>(count, kAtOnce); ++n) {
      const auto queue = static_cast<unsigned>(all.next);
      all.next = queue + 1 == count ? 0 : queue + 1;
      Source& source = *all.by_queue[queue];
      for (unsigned i = 0; i < kAtOnce; ++i) {
        const Frame* frame = source.due(now);
        if (!frame || !mmio_room() || !offer(queue, frame->flow * queues + queue, *frame)) break;
        source.pop();
      }
    }
    while (all.sender && room()) {
      const Frame* frame = all.sender->due(now);
      if (!frame) return;
      const unsigned queue = frame->flow / all.sender->plan().deal_count % queues;
      if (!offer(queue, frame->flow, *frame)) return;
      all.sender->pop();
    }
  }
  /// The driver takes another frame, if its queue does.
  bool room() const { return driver_.tx_outstanding() < most_outstanding_ && mmio_room(); }
  /// A frame is due that no queue has taken.
  bool held_up(Time now) const;

 private:
  static constexpr unsigned kAtOnce = 8;  // queues a clock, and frames of each
  struct Interface {
    Source* sender = nullptr;  // of all its queues
    std::vector<Source*> by_queue;
    std::size_t next = 0;
  };
  // The CPU stands still where a doorbell would find no room.
  bool mmio_room() const { return driver_.due() < root_.mmio_room(); }
  TrafficConfig part(TrafficConfig all, unsigned interface, unsigned queue) const;

  Driver& driver_;
  RootComplex& root_;
  std::vector<double> rates_;
  std::vector<Interface> interfaces_;
  unsigned most_outstanding_;
};

}  // namespace emery::host_nic

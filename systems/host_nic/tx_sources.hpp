// SPDX-License-Identifier: Apache-2.0
// Traffic of transmit queues that each have a source of their own (queue_rates): one whose ring is
// full waits alone, as the sockets behind a real queue would.
#pragma once

#include <functional>
#include <vector>

#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

class QueueSources {
 public:
  explicit QueueSources(const Options& options);
  /// There are such sources.
  bool any() const { return !rates_.empty(); }

  /// What queue `queue` of `queues` of an interface is offered, of the plan for all of them: its
  /// share of flows and frames, and so much of the rate as the setting says.
  TrafficConfig plan(TrafficConfig all, unsigned interface, unsigned queue, unsigned queues) const;
  /// Its source.
  void add(unsigned interface, Source& source);

  /// Offers one frame to its queue; false when that has no room.
  using Offer = std::function<bool(unsigned queue, const Frame& frame)>;
  /// Some of an interface's queues are looked at, others in the next clocks.
  void feed(unsigned interface, Time now, const Offer& offer);
  /// A frame is due that no queue has taken.
  bool held_up(Time now) const;

 private:
  struct Interface {
    std::vector<Source*> sources;
    std::size_t next = 0;
  };
  std::vector<double> rates_;
  std::vector<Interface> interfaces_;
};

}  // namespace emery::host_nic

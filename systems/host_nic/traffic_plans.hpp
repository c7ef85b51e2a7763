// SPDX-License-Identifier: Apache-2.0
// What a run's ports are to receive, and what its interfaces are to send.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {

class TrafficPlans {
 public:
  explicit TrafficPlans(const Options& options)
      : interfaces_(options.get<unsigned>("interfaces")),
        ports_(options.get<unsigned>("ports")),
        train_(options.get<unsigned>("train")),
        tcp_sent_(options.get<bool>("tso")),
        tcp_received_(options.get<bool>("receive_coalescing")),
        workload_(options, line(options), interfaces_ * ports_) {}
  const Workload& workload() const { return workload_; }

  std::optional<TrafficConfig> received(unsigned port) const {
    auto plan = workload_.port(port);
    if (plan) {
      plan->train = train_;
      plan->tcp = tcp_received_;
      plan->source = static_cast<std::uint16_t>(0x100 + port);
    }
    return plan;
  }
  /// On all its ports together.
  std::optional<TrafficConfig> sent(unsigned interface) const {
    auto plan = workload_.port(interface * ports_, interface, interfaces_);
    if (plan) {
      plan->train = train_;
      plan->tcp = tcp_sent_;
      plan->rate *= ports_;
      plan->line_rate *= ports_;
      plan->source = static_cast<std::uint16_t>(interface);
    }
    return plan;
  }

 private:
  unsigned interfaces_, ports_, train_;  // ports of one interface
  bool tcp_sent_, tcp_received_;         // frames are segments where they have room
  Workload workload_;
};

}  // namespace emery::host_nic

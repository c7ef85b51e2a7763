// SPDX-License-Identifier: Apache-2.0
// Which flows of the traffic the bench has steered, and to which queues.
#pragma once

#include <cstdint>

#include "bench/run/workload.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/offloads.hpp"
#include "systems/host_nic/ports.hpp"
#include "systems/host_nic/traffic_plans.hpp"

namespace emery::host_nic {

class SteeredFlows {
 public:
  explicit SteeredFlows(const Options& options) : wanted_(options.get<unsigned>("steered_flows")) {}

  /// Steers the first flows of what each port will receive that find a place, as many as are
  /// wanted, the n-th to the port's n-th queue. As a driver's tables change, every second one goes
  /// to another queue first, and every eighth is followed by one that is taken out again.
  void steer(Driver& driver, RecordCheck& records, const Ports& ports, const TrafficPlans& plans,
             Time now);
  void write(JsonWriter& json) const;

 private:
  void steer(Driver& driver, RecordCheck& records, unsigned interface, unsigned port,
             const TrafficConfig& traffic, Time now);

  unsigned wanted_;
  std::uint64_t flows_ = 0, moved_ = 0, changed_ = 0, removed_ = 0, no_room_ = 0;
};

}  // namespace emery::host_nic

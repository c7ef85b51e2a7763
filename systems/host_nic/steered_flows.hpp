// SPDX-License-Identifier: Apache-2.0
// Which flows of the traffic the bench has steered, and to which queues.
#pragma once

#include <cstdint>

#include "bench/run/workload.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/offloads.hpp"

namespace emery::host_nic {

class SteeredFlows {
 public:
  /// Steers the first `flows` flows of what a port will receive that find a place, the n-th to the
  /// port's n-th queue. As a driver's tables change, every second one goes to another queue first,
  /// and every eighth is followed by one that is taken out again.
  void steer(Driver& driver, RecordCheck& records, unsigned interface, unsigned port,
             const TrafficConfig& traffic, unsigned flows, Time now);
  void write(JsonWriter& json) const;

 private:
  std::uint64_t flows_ = 0, moved_ = 0, changed_ = 0, removed_ = 0, no_room_ = 0;
};

}  // namespace emery::host_nic

// SPDX-License-Identifier: Apache-2.0
// What each transmit queue got of the line: rate and latency, and where there is a schedule of time
// slots, whether its frames kept to them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bench/score/meter.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/scheduling.hpp"

namespace emery::host_nic {

class QueueMeter {
 public:
  static constexpr unsigned kMost = 256;  // queues

  /// `queues` of each interface, dealt to its `ports`, which carry `rate` bits a second.
  QueueMeter(const Scheduling& scheduling, unsigned interfaces, unsigned ports, unsigned queues,
             double rate);

  /// The device's clock was 0 then.
  void started(Time now) { zero_ = now; }
  /// Sees every frame that arrives. `interface_of`: a stream's; -1: it is received. So many flows
  /// in a row go to one queue.
  void watch(Scoreboard& score, std::vector<int> interface_of, std::uint32_t deal_count);
  /// A frame has left: bytes with FCS, the time of its last bit.
  void sent(unsigned interface, unsigned queue, std::uint32_t bytes, Time inside, Time end);
  /// The fields `queues` and, with a schedule, `tdma` of the open object.
  void write(JsonWriter& json, const Meter::Window& window) const;

 private:
  struct Queue {
    std::uint64_t frames = 0;
    Histogram latency;
  };
  /// A slot of one period, on all ports.
  struct Visit {
    std::uint64_t frames = 0, late = 0;
    Time first = -1, last = 0;  // the begin of its first frame, the end of its last
    Time wire = 0;              // with preamble and gap
  };
  /// Slot `index` of the schedule begins at `begin` for the `number`-th time of all slots.
  struct Place {
    std::int64_t number;
    std::size_t index;
    Time begin, end;
  };
  Place place(Time time) const;
  bool open(const Place& place, unsigned queue) const {
    return scheduling_.slots[place.index].classes >> scheduling_.share(queue) & 1;
  }
  void keep_slots(unsigned port, unsigned queue, std::uint32_t bytes, Time end);
  void write_slots(JsonWriter& json) const;

  Scheduling scheduling_;
  unsigned ports_, queues_;
  double ps_a_byte_;
  Time zero_ = 0, period_ = 0;
  std::vector<Queue> queue_;  // of all interfaces
  Meter meter_;
  std::vector<std::map<std::int64_t, Visit>> visits_;  // of each port
  std::uint64_t outside_ = 0;
  Time early_ = 0, late_ = 0;
};

}  // namespace emery::host_nic

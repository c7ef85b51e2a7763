// SPDX-License-Identifier: Apache-2.0
// What the card has counted of functions, as the physical one reads it: counters of the queues of
// each, and whose the frames are that its ports have dropped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/score/scoreboard.hpp"
#include "bench/wire/mac_end.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::host_nic {

class FunctionCounts {
 public:
  /// Queues of each function, in their order: so many rows of the card's counters.
  FunctionCounts(Scoreboard& score, unsigned tx_queues, unsigned rx_queues, unsigned ports,
                 bool shared)
      : score_(score),
        tx_queues_(tx_queues),
        rx_queues_(rx_queues),
        ports_(ports),
        shared_(shared) {}

  /// Of a queue that it numbers so; a status of the driver core. Takes simulated time.
  int read(emnic* physical, unsigned function, bool transmit, unsigned queue,
           emnic_queue_counts& counts) const;

  /// A frame of this stream is spoilt on the wire.
  void spoilt(int stream, WireFault fault) { ++spoilt_[{stream, reason(fault)}]; }
  /// What functions receive at each port. Spoilt frames are the wire's to tell, those without a
  /// slot their queues', the others nobody's. Takes simulated time.
  using Streams = std::vector<std::pair<unsigned, std::vector<int>>>;
  void account(emnic* physical, const Streams& of_function);

 private:
  /// Frames that a function's queues at a port dropped, but for those told before.
  std::uint64_t& without_slot(emnic* physical, unsigned function, unsigned port);

  Scoreboard& score_;
  unsigned tx_queues_, rx_queues_, ports_;
  bool shared_;  // queues are all ports'
  std::map<std::pair<int, std::string>, std::uint64_t> spoilt_;
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> without_slot_;
};

}  // namespace emery::host_nic

// SPDX-License-Identifier: Apache-2.0
// What the driver has seen of each queue, against the card's own counters at the end of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/sim/ring.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::host_nic {

class QueueCounts {
 public:
  /// All are 0, as after the card's reset.
  void reset(unsigned interfaces, unsigned tx_queues, unsigned rx_queues, bool tx_stream,
             bool rx_stream);

  /// A packet was put into a transmit queue: with an MSS one that becomes frames of so many bytes
  /// of payload, whose TCP header is at `tcp`.
  void put(unsigned interface, unsigned queue, std::span<const std::uint8_t> packet, unsigned mss,
           unsigned tcp);
  /// So many bytes of frames are done with.
  std::uint64_t sent(const emnic_completion& completion);
  void received(const emnic_completion& completion);

  /// Reads the counters of up to `most` queues a way of the first interfaces that had something to
  /// count, and of one that had nothing; of all where there are no more, with their sums against
  /// the ports' counters. Not where records were lost. Takes simulated time.
  void compare(emnic* core, unsigned interfaces, unsigned most);
  /// Counters of a queue, with a status of the driver core.
  using Read = std::function<int(unsigned interface, bool transmit, unsigned queue,
                                 emnic_queue_counts& counted)>;
  /// The same of a virtual function, whose counters another one reads; no sums.
  void compare(const Read& read, unsigned most);
  /// What was compared by others, for the result.
  QueueCounts& operator+=(const QueueCounts& others);
  const Findings& findings() const { return findings_; }
  void write(JsonWriter& json) const;

 private:
  struct Packet {
    std::uint32_t bytes, frames;  // of all its frames
  };
  struct Way {
    bool transmit;
    bool stream = false;
    unsigned queues = 0;                   // of each interface
    std::vector<emnic_queue_counts> seen;  // of each queue, but for drops
    bool failed_together = false;          // a record of several frames was of an error
    unsigned compared = 0;
    emnic_queue_counts sum{};  // of the queues compared, as the card has them
  };

  static std::size_t at(const Way& way, unsigned interface, unsigned queue) {
    return std::size_t{interface} * way.queues + queue;
  }
  std::vector<unsigned> chosen(const Way& way, unsigned interface, unsigned most) const;
  emnic_queue_counts compare(const Read& read, Way& way, unsigned interface, unsigned most);
  emnic_queue_counts compare_one(const Read& read, Way& way, unsigned interface, unsigned queue);
  void compare_sums(emnic* core, const Way& way, unsigned interface, const emnic_queue_counts& sum);

  unsigned resets_ = 0;
  Way tx_{true}, rx_{false};
  std::vector<Ring<Packet>> under_way_;  // of each transmit queue
  Findings findings_;
};

}  // namespace emery::host_nic

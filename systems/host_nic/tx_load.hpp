// SPDX-License-Identifier: Apache-2.0
// How much of what is to be sent is with the card, so that queues know when to gather: while it has
// enough to do, a doorbell for a block of descriptors in place of eight for one each is eight reads
// less, and costs no time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/sim/ring.hpp"

namespace emery::host_nic {

class TxLoad {
 public:
  void reset(std::size_t queues) {
    queues_.assign(queues, {});
    held_.clear();
    bytes_ = packets_ = 0;
    full_ = false;
  }

  // A packet of so many bytes was put into a ring; a doorbell told of all that are in it; so many
  // bytes are done.
  void put(std::size_t queue, std::size_t bytes) {
    queues_[queue].gathered += bytes;
    ++queues_[queue].waiting;
  }
  void rang(std::size_t queue) {
    Queue& q = queues_[queue];
    q.told += q.gathered;
    bytes_ += q.gathered;
    q.packets += q.waiting;
    packets_ += q.waiting;
    q.gathered = q.waiting = 0;
  }
  void sent(std::size_t queue, std::uint64_t bytes, std::uint64_t packets) {
    Queue& q = queues_[queue];
    const std::uint64_t done = std::min(bytes, q.told), of = std::min(packets, q.packets);
    q.told -= done;
    q.packets -= of;
    bytes_ -= done;
    packets_ -= of;
    sent_ += done;
  }
  // The card has stopped the queue: what it was told of goes nowhere.
  void stopped(std::size_t queue) { sent(queue, queues_[queue].told, queues_[queue].packets); }

  // Short packets, and more of them than 100 Gb/s take for two round trips of 2.5 us, and then
  // until they are less than for two of 2 us. Beside long ones a read of descriptors is little; and
  // what waits beside them are acknowledgements, for the next of which the sender of long ones
  // waits.
  bool full() {
    full_ = bytes_ < kShort * packets_ && bytes_ > (full_ ? 48 : 64) * 1024;
    return full_;
  }

  // Queues that gather while it is full, the one that has waited longest first; no longer than
  // others have sent kPatience.
  void hold(std::size_t queue) {
    if (queues_[queue].held) return;
    queues_[queue].held = true;
    held_.push({queue, sent_});
  }
  template <class Ring>
  void release(const Ring& ring) {
    while (!held_.empty()) {
      const Held first = held_.front();
      const bool late = sent_ - first.since > kPatience;
      if (!late && full()) break;
      held_.pop();
      queues_[first.queue].held = false;
      ring(first.queue, late);
    }
  }

 private:
  struct Queue {
    std::uint64_t gathered = 0, told = 0;    // bytes without a doorbell, and with the card
    std::uint64_t waiting = 0, packets = 0;  // likewise
    bool held = false;
  };
  struct Held {
    std::size_t queue;
    std::uint64_t since;
  };
  static constexpr std::uint64_t kShort = 800;  // bytes of a packet, in the mean
  static constexpr std::uint64_t kPatience = 512 * 1024;
  std::vector<Queue> queues_;
  emery::Ring<Held> held_;
  std::uint64_t bytes_ = 0, packets_ = 0;  // with the card
  std::uint64_t sent_ = 0;                 // bytes
  bool full_ = false;
};

}  // namespace emery::host_nic

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
    bytes_ = 0;
    full_ = false;
  }

  // A packet of so many bytes was put into a ring; a doorbell told of all that are in it; so many
  // bytes are done.
  void put(std::size_t queue, std::size_t bytes) { queues_[queue].gathered += bytes; }
  void rang(std::size_t queue) {
    Queue& q = queues_[queue];
    q.told += q.gathered;
    bytes_ += q.gathered;
    q.gathered = 0;
  }
  void sent(std::size_t queue, std::uint64_t bytes) {
    Queue& q = queues_[queue];
    const std::uint64_t done = std::min(bytes, q.told);
    q.told -= done;
    bytes_ -= done;
  }
  // The card has stopped the queue: what it was told of goes nowhere.
  void stopped(std::size_t queue) { sent(queue, queues_[queue].told); }

  // More than 100 Gb/s take for two round trips of 2.5 us, and then until it is less than for two
  // of 2 us: 1518 bytes at line rate, which need none of this, stay below.
  bool full() {
    full_ = bytes_ > (full_ ? 48 : 64) * 1024;
    return full_;
  }

  // Queues that gather while it is full, the one that has waited longest first.
  void hold(std::size_t queue) {
    if (queues_[queue].held) return;
    queues_[queue].held = true;
    held_.push(queue);
  }
  template <class Ring>
  void release(const Ring& ring) {
    while (!held_.empty() && !full()) {
      const std::size_t queue = held_.front();
      held_.pop();
      queues_[queue].held = false;
      ring(queue);
    }
  }

 private:
  struct Queue {
    std::uint64_t gathered = 0, told = 0;  // bytes without a doorbell, and with the card
    bool held = false;
  };
  std::vector<Queue> queues_;
  emery::Ring<std::size_t> held_;
  std::uint64_t bytes_ = 0;  // with the card
  bool full_ = false;
};

}  // namespace emery::host_nic

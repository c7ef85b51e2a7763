// SPDX-License-Identifier: Apache-2.0
// Frames on their way to an end of a line, each with the time at which it may begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

class FrameQueue final : public FrameSource {
 public:
  void push(std::span<const std::uint8_t> bytes, Time start) {
    held_.push_back({start, {bytes.begin(), bytes.end()}});
  }
  bool next(Frame& frame) override {
    if (held_.empty()) return false;
    frame.assign(held_.front().bytes);
    frame.seq = count_++;
    frame.start = held_.front().start;
    held_.pop_front();
    return true;
  }
  std::size_t size() const { return held_.size(); }

 private:
  struct Held {
    Time start;
    std::vector<std::uint8_t> bytes;  // a switch has thousands: a Frame has room for the longest
  };
  std::deque<Held> held_;
  std::uint64_t count_ = 0;
};

}  // namespace emery

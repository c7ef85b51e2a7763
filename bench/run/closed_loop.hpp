// SPDX-License-Identifier: Apache-2.0
// The frames of a source that are inside, by number: a closed loop has so many at the most, and one
// more goes in for each that came out. One that has not come out after a time that all but stalled
// ones take counts as lost, and another takes its place.
#pragma once

#include <cstdint>
#include <deque>

#include "bench/sim/time.hpp"

namespace emery {

class ClosedLoop {
 public:
  static constexpr Time kPatience = 1000 * kMicrosecond;

  explicit ClosedLoop(std::uint32_t most) : most_(most) {}

  /// No frame may go in now.
  bool full(Time now) {
    while (!inside_.empty() && now - inside_.front().since > kPatience) {
      written_off_ += inside_.front().open;
      leave(first_);
    }
    return open_ >= most_;
  }
  /// The next frame goes in.
  void enter(Time now) {
    inside_.push_back({now, true});
    ++open_;
  }
  /// Frame `number` has come out, or will not. Another time: nothing.
  void leave(std::uint64_t number) {
    if (number - first_ >= inside_.size()) return;
    open_ -= inside_[number - first_].open;
    inside_[number - first_].open = false;
    for (; !inside_.empty() && !inside_.front().open; ++first_) inside_.pop_front();
  }
  std::uint64_t written_off() const { return written_off_; }

 private:
  struct Inside {
    Time since;
    bool open;
  };
  std::uint32_t most_, open_ = 0;
  std::deque<Inside> inside_;  // from frame first_ on
  std::uint64_t first_ = 0, written_off_ = 0;
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// A wire between any two ends: two NICs, or a NIC and a model of something else.
//
// An end hands over what it sends (on_transmitted) and plays what a source gives (set_source), as a
// Mac of any width does. A frame begins at the far end `delay` after it began here, but not before
// all of it has been handed over: a frame that takes longer than `delay` to send goes on as through
// a switch that stores it. The ends' own propagation comes on top.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/wire/frame_queue.hpp"

namespace emery {

class Wire {
 public:
  /// Told of each frame that leaves end 0 or 1, with the time of its last bit at the far end of the
  /// sender's line.
  using OnFrame = std::function<void(unsigned from, std::span<const std::uint8_t> bytes, Time)>;

  /// Both ends send at `rate`, in bits a second.
  template <class A, class B>
  Wire(Simulation& simulation, double rate, Time delay, A& a, B& b, OnFrame on_frame = {})
      : simulation_(simulation), rate_(rate), delay_(delay), on_frame_(std::move(on_frame)) {
    join(0, a, b);
    join(1, b, a);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Frames on their way from end 0 or 1.
  std::size_t under_way(unsigned from) const { return way_[from].size(); }

 private:
  template <class From, class To>
  void join(unsigned number, From& from, To& to) {
    from.on_transmitted([this, number](std::span<const std::uint8_t> bytes, Time arrived) {
      if (on_frame_) on_frame_(number, bytes, arrived);
      LineClock line(rate_);
      const Time took = line.after(kPreambleBytes + bytes.size() + kFcsBytes);
      way_[number].push(bytes, std::max(arrived - took + delay_, simulation_.now()));
    });
    to.set_source(&way_[number]);
  }

  Simulation& simulation_;
  double rate_;
  Time delay_;
  OnFrame on_frame_;
  FrameQueue way_[2];
};

}  // namespace emery

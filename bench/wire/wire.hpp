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

#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

class Wire {
 public:
  /// Told of each frame that leaves end 0 or 1, with the time of its last bit at the far end of the
  /// sender's line.
  using OnFrame = std::function<void(unsigned from, std::span<const std::uint8_t> bytes, Time)>;

  /// Both ends send at `rate`, in bits a second.
  template <class A, class B>
  Wire(Simulation& simulation, double rate, Time delay, A& a, B& b, OnFrame on_frame = {})
      : on_frame_(std::move(on_frame)),
        way_{Way(simulation, rate, delay), Way(simulation, rate, delay)} {
    join(0, a, b);
    join(1, b, a);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Frames on their way from end 0 or 1.
  std::size_t under_way(unsigned from) const { return way_[from].size(); }

 private:
  class Way final : public FrameSource {
   public:
    Way(Simulation& simulation, double rate, Time delay)
        : simulation_(simulation), rate_(rate), delay_(delay) {}

    void push(std::span<const std::uint8_t> bytes, Time arrived) {
      LineClock line(rate_);
      const Time took = line.after(kPreambleBytes + bytes.size() + kFcsBytes);
      Frame frame;
      frame.assign(bytes);
      frame.seq = count_++;
      frame.start = std::max(arrived - took + delay_, simulation_.now());
      frames_.push(frame);
    }
    bool next(Frame& frame) override {
      if (frames_.empty()) return false;
      frame = frames_.front();
      frames_.pop();
      return true;
    }
    std::size_t size() const { return frames_.size(); }

   private:
    Simulation& simulation_;
    double rate_;
    Time delay_;
    std::uint64_t count_ = 0;
    Ring<Frame> frames_;
  };

  template <class From, class To>
  void join(unsigned number, From& from, To& to) {
    from.on_transmitted([this, number](std::span<const std::uint8_t> bytes, Time arrived) {
      if (on_frame_) on_frame_(number, bytes, arrived);
      way_[number].push(bytes, arrived);
    });
    to.set_source(&way_[number]);
  }

  OnFrame on_frame_;
  Way way_[2];
};

}  // namespace emery

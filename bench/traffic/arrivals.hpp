// SPDX-License-Identifier: Apache-2.0
// When the frames of a source start: a mean rate, and the process in which they arrive.
//
// A frame that arrives while the line is busy starts when it is free. The mean of the process is
// the rate, whatever the kind; at the rate of the line all are the same but for Poisson, where what
// arrives too early only waits.
#pragma once

#include <cstdint>
#include <string>

#include "bench/sim/random.hpp"
#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

struct ArrivalKind {
  enum class Kind {
    kConstant,  // evenly: one after the other on a line of the rate
    kPoisson,   // independent, exponential times between
    kBurst,     // `burst` frames back to back on the line, and the next so many when they are due
    kOnOff,     // back to back while on, which ends behind each frame with a chance of 1 / burst;
                // exponential times off
  };
  Kind kind = Kind::kConstant;
  std::uint32_t burst = 32;

  /// "constant", "poisson", "burst", "burst:N", "on-off", "on-off:N"; otherwise
  /// std::invalid_argument.
  static ArrivalKind parse(const std::string& text);
};

class Arrivals {
 public:
  /// Rates in bits a second, `mean` bytes of a frame with all that is between frames.
  Arrivals(const ArrivalKind& kind, double rate, double line_rate, double mean, std::uint64_t seed,
           Time start);

  /// When the next frame starts.
  Time next() const;
  /// It has started, and takes so many bytes of the line.
  void sent(std::uint64_t bytes);
  /// Nothing starts before `t`.
  void wait_until(Time t) {
    line_.wait_until(t);
    even_.wait_until(t);
  }

 private:
  using Kind = ArrivalKind::Kind;
  Time exponential(double mean) { return static_cast<Time>(random_.exponential() * mean + 0.5); }

  ArrivalKind kind_;
  double gap_;  // picoseconds in the mean: between arrivals, or off
  Random random_;
  LineClock line_;  // free again
  LineClock even_;  // and so on a line of the rate
  Time arrival_ = 0;
  std::uint32_t in_burst_ = 0;
};

}  // namespace emery

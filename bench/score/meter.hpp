// SPDX-License-Identifier: Apache-2.0
// What came out when: frames and line bytes of several streams in common bins of time, and the one
// window in which rates are measured.
//
// Memory is bounded: when a run outgrows its bins they are joined in pairs, so a bin is at most
// 1/2048 of the run. Counts are exact; a window begins and ends where bins do.
//
// The window ends when the first source stops (`end`). It begins when the pipes are full: after
// every stream of weight (1 % of all deliveries, or half of an even share where there are more than
// fifty streams) has delivered a frame, at the first of seven
// places in the time that is left from which on the run is steady. Steady: both halves of the
// window deliver the same, by line bytes, in total and on each stream of weight, within 3 % and
// what chance makes of so many frames, or blocks where they come out in blocks (`in_blocks`). Where
// there is no such place there are no rates.
//
// What is served a buffer at a time is steady over many turns only: a turn more in one half is no
// chance. A run has to be as long as that takes.
//
// A stream's rate is of the fewer of the frames that went in and of those that came out within the
// window: what had waited before it, and comes out faster than anything can go in, is no rate.
//
// At the window's beginning delays may still grow to what they will be, so that less comes out of
// it than goes in, the more so the shorter it is. `settled` leaves that out: it tells delays that
// have grown from queues that go on growing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/sim/time.hpp"

namespace emery {

class Meter {
 public:
  struct Amount {
    std::uint64_t frames = 0, bytes = 0;  // bytes with FCS
    std::uint64_t arrivals = 0;           // of frames, or of blocks of them

    Amount& operator+=(const Amount& other) {
      frames += other.frames;
      bytes += other.bytes;
      arrivals += other.arrivals;
      return *this;
    }
    double line_bits() const { return 8.0 * static_cast<double>(bytes + 20 * frames); }
  };

  /// In picoseconds of simulated time.
  struct Window {
    Time from = 0, to = 0;
    bool steady = false;
  };

  struct Rates {
    double mpps = 0, l1_gbps = 0, l2_gbps = 0;
  };

  /// Frames of a stream that come out at the same time came as one.
  void in_blocks() { in_blocks_ = true; }
  /// A frame of so many bytes with FCS came out of a stream (a small dense number), so long after
  /// it had gone in.
  void add(int stream, Time time, std::uint64_t bytes, Time inside = 0);
  /// The first source has stopped: what comes out from now on counts for no rate. The first call
  /// counts.
  void end(Time time) {
    if (!end_) end_ = time;
  }

  Window window() const;
  /// What went through a stream in a window.
  Amount within(int stream, const Window& window) const;
  /// Rates of an amount; nothing when the window is not steady.
  static std::optional<Rates> rates(const Amount& amount, const Window& window);
  /// Million frames a second that all streams take for good: that go in during the second half of a
  /// window, less those by which what is inside grows from its third quarter to its fourth.
  std::optional<double> settled(const Window& window) const;

 private:
  static constexpr std::size_t kBins = 4096;
  static constexpr std::uint64_t kLeastArrivals = 32;  // in each half of a window
  struct Stream {
    std::vector<Amount> in, out;  // frames that came out, by when they went in and came out
    Amount total;
    Time first = 0, last = 0;
  };

  std::size_t bin(Time time) const { return static_cast<std::size_t>(time - begin_) / width_; }
  static Amount sum(const std::vector<Amount>& bins, std::size_t from, std::size_t to);
  bool steady(const std::vector<const Stream*>& streams, std::size_t from, std::size_t to) const;
  void widen();

  std::vector<Stream> streams_;
  bool in_blocks_ = false;
  Time begin_ = 0;
  std::size_t width_ = 1 << 16;  // ps
  std::optional<Time> end_;
};

}  // namespace emery

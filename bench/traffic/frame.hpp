// SPDX-License-Identifier: Apache-2.0
// An Ethernet frame on its way through the bench, and the interface of whatever gives frames.
//
// A frame is held without preamble and FCS, as captures and the MAC stream hold it. "Wire size" is
// the Ethernet frame with its FCS (64 ... 16384), the number everything prints; the line is busy
// for 20 bytes more (preamble 8, gap 12).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "bench/sim/time.hpp"

namespace emery {

inline constexpr std::uint32_t kFcsBytes = 4;
inline constexpr std::uint32_t kPreambleBytes = 8;
inline constexpr std::uint32_t kGapBytes = 12;
inline constexpr std::uint32_t kLineOverhead = kPreambleBytes + kGapBytes;
inline constexpr std::uint32_t kMinFrame = 60;      // without FCS
inline constexpr std::uint32_t kTaggedHeader = 18;  // of Ethernet, with a VLAN tag
inline constexpr std::uint32_t kMaxFrame = 16380;   // without FCS
// Room for oversize faults and for copying whole 64-byte beats.
inline constexpr std::uint32_t kFrameBuffer = 16448;

struct Frame {
  Time start = 0;          // its preamble is not on the wire before this
  std::uint64_t seq = 0;   // number of the frame in its source, from 0
  std::uint32_t flow = 0;  // small and dense: usable as an index
  std::uint32_t size = 0;  // bytes, without FCS
  std::array<std::uint8_t, kFrameBuffer> data;

  std::span<const std::uint8_t> bytes() const { return {data.data(), size}; }

  void assign(std::span<const std::uint8_t> from) {
    if (from.size() > data.size())
      throw std::length_error("frame of " + std::to_string(from.size()) + " bytes");
    size = static_cast<std::uint32_t>(from.size());
    std::memcpy(data.data(), from.data(), from.size());
  }

  /// Fills a short frame with zeros up to 60 bytes, as a MAC does. True if it was short.
  bool pad_to_minimum() {
    if (size >= kMinFrame) return false;
    std::memset(data.data() + size, 0, kMinFrame - size);
    size = kMinFrame;
    return true;
  }
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// Fills `frame` with the next frame, or returns false when there is none now. Start times never
  /// go back.
  virtual bool next(Frame& frame) = 0;
  /// No more frames come: asked when `next` gave none.
  virtual bool over() const { return true; }
};

/// A place in time on a line of any rate. Whole frames are advanced in units of 2^-16 ps, so that a
/// long run does not drift: the rate is off by less than 1e-7 at 100 Gb/s, and exact where a byte
/// takes a whole number of these units.
class LineClock {
 public:
  explicit LineClock(double bits_per_second)
      : byte_(static_cast<std::int64_t>(8e12 / bits_per_second * kUnit + 0.5)) {
    if (!(bits_per_second >= 1e6 && bits_per_second <= 1e13))
      throw std::invalid_argument("line rate must be between 1 Mb/s and 10 Tb/s");
  }
  Time now() const { return position_ >> kShift; }
  void wait_until(Time t) {
    if (t > now()) position_ = t << kShift;
  }
  void advance(std::uint64_t bytes) { position_ += static_cast<std::int64_t>(bytes) * byte_; }
  /// When `bytes` more will have passed, to the picosecond after.
  Time after(std::uint64_t bytes) const {
    return (position_ + static_cast<std::int64_t>(bytes) * byte_ + (std::int64_t{1} << kShift) -
            1) >>
           kShift;
  }

 private:
  static constexpr int kShift = 16;
  static constexpr double kUnit = 1 << kShift;
  std::int64_t byte_;
  std::int64_t position_ = 0;  // reaches 140 s
};

}  // namespace emery

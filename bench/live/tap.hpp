// SPDX-License-Identifier: Apache-2.0
// An interface of this machine's at a place where frames enter and leave the simulated system: a
// TAP device's file descriptor (any that gives and takes one whole frame a call will do).
//
// Frames are without FCS, and short ones are padded with zeros, as a MAC does. Each is read or
// written without waiting: what is too long for the system, or what the interface does not take, is
// dropped and counted. No more than kMostRead frames are held here; all others wait in the
// interface's own queue, which its owner gets to feel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/ring.hpp"
#include "bench/stats/json.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

class Tap {
 public:
  static constexpr std::size_t kMostRead = 64;

  /// Frames and bytes as the interface itself counts them: without FCS and padding.
  struct Way {
    std::uint64_t frames = 0, bytes = 0;
    std::map<std::string, std::uint64_t> dropped;  // not among `frames`

    void write(JsonWriter& json) const;
  };

  /// `file` stays whose it is.
  explicit Tap(int file);

  int file() const { return file_; }
  /// Its MAC address (first byte in bits 47:40). Throws std::runtime_error.
  void station(std::uint64_t mac);
  /// The longest frame (without FCS) that the system takes.
  void limit(std::uint32_t longest) { longest_ = longest; }
  /// Takes frames that wait in the interface, as long as there is room; false: it has gone.
  bool read();
  /// The run ends: frames that still wait in the interface are dropped.
  void end();
  /// The next frame of those read, with the number of its flow (dense, from 0, as they appear).
  bool next(Frame& frame);
  /// No frame is held.
  bool empty() const { return held_.empty(); }
  bool full() const { return held_.size() >= kMostRead; }
  /// Gives the interface a frame that came out.
  void write(std::span<const std::uint8_t> frame);

  /// `in`: to the simulated system; `out`: from it.
  const Way& in() const { return in_; }
  const Way& out() const { return out_; }
  void write(JsonWriter& json) const;

 private:
  // Bytes of the next frame in the interface, which are in buffer_; 0: none, or it has gone.
  std::size_t take();

  int file_;
  std::uint32_t longest_ = kMaxFrame;
  bool gone_ = false;
  std::vector<std::uint8_t> buffer_;
  Ring<std::vector<std::uint8_t>> held_;
  std::unordered_map<std::uint64_t, std::uint32_t> flows_;
  Way in_, out_;
};

}  // namespace emery

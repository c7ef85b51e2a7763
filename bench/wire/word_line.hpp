// SPDX-License-Identifier: Apache-2.0
// A wire at a stream of 32-bit words that stalls: a port that, unlike a MAC, loses nothing.
//
// When the chip has no room, frames wait outside. A frame crosses the pins as words, first byte
// uppermost, with two bytes in front (so that the IP header is aligned) and no FCS. It counts as
// received when its first word is taken, as transmitted when its last word has come out. Frames
// start no earlier than their source says; the outgoing wire takes words no faster than its line
// rate, preamble, FCS and gap included (LineClock, as in Mac).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "bench/sim/simulation.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

/// One direction of a word stream, as pointers into the model.
struct WordPins {
  std::uint8_t* valid = nullptr;
  std::uint8_t* ready = nullptr;
  std::uint32_t* data = nullptr;
  std::uint8_t* sop = nullptr;
  std::uint8_t* eop = nullptr;
  std::uint8_t* bytes = nullptr;  // of this word, 4 but in the last
};

inline constexpr std::uint32_t kWordPad = 2;

/// Plays the frames of a source towards the chip.
class WordLineIn final : public Component {
 public:
  using OnReceiving = std::function<void(const Frame&, Time)>;

  WordLineIn(const WordPins& pins, OnReceiving on_receiving)
      : pins_(pins), on_receiving_(std::move(on_receiving)) {}

  /// Is told when the last word of a frame was taken.
  void on_received(std::function<void(Time)> callback) { on_received_ = std::move(callback); }
  /// From now on. (Without a source it has nothing to do.)
  void set_source(FrameSource* source) {
    source_ = source;
    done_ = false;
  }
  /// Frames that would start from now on do not.
  void stop() { stopped_ = true; }
  /// No frame is on its way into the chip, and none will be.
  bool done() const { return done_; }
  /// A frame is there and the chip does not take it.
  bool stalled() const { return *pins_.valid && !*pins_.ready; }
  std::uint64_t words() const { return words_; }
  std::uint64_t stall_clocks() const { return stall_clocks_; }

  void sample(Time now) override {
    now_ = now;
    if (!*pins_.valid) return;
    if (!*pins_.ready) {
      ++stall_clocks_;
      return;
    }
    ++words_;
    if (at_ == 0) on_receiving_(frame_, now);
    at_ += 4;
    if (at_ < frame_.size + kWordPad) return;
    have_ = false;
    if (on_received_) on_received_(now);
  }

  void drive() override {
    if (!have_ && !done_) {
      have_ = !stopped_ && source_->next(frame_);
      done_ = !have_ && (stopped_ || source_->over());
      at_ = 0;
    }
    if (have_ && at_ == 0 && stopped_ && !*pins_.valid) {
      have_ = false;
      done_ = true;
    }
    const bool valid = have_ && (at_ != 0 || now_ >= frame_.start);
    *pins_.valid = valid;
    if (!valid) return;
    const std::uint32_t size = frame_.size + kWordPad, left = size - at_;
    std::uint32_t word = 0;
    for (std::uint32_t byte = at_; byte < at_ + 4; ++byte)
      word = word << 8 | (byte < kWordPad || byte >= size ? 0u : frame_.data[byte - kWordPad]);
    *pins_.data = word;
    *pins_.sop = at_ == 0;
    *pins_.eop = left <= 4;
    *pins_.bytes = static_cast<std::uint8_t>(left < 4 ? left : 4);
  }

 private:
  WordPins pins_;
  OnReceiving on_receiving_;
  std::function<void(Time)> on_received_;
  FrameSource* source_ = nullptr;
  Frame frame_{};
  std::uint32_t at_ = 0;  // byte of frame_, pad included
  bool have_ = false, stopped_ = false, done_ = true;
  Time now_ = 0;
  std::uint64_t words_ = 0, stall_clocks_ = 0;
};

/// Takes what the chip sends.
class WordLineOut final : public Component {
 public:
  using OnTransmitted = std::function<void(std::span<const std::uint8_t>, Time)>;

  WordLineOut(const WordPins& pins, double rate, OnTransmitted on_transmitted)
      : pins_(pins), line_(rate), on_transmitted_(std::move(on_transmitted)) {}

  /// When the first word of the frame that came last did.
  Time began() const { return began_; }
  /// Words outside a frame, frames without an end, wrong byte counts.
  std::uint64_t violations() const { return violations_; }

  void sample(Time now) override {
    now_ = now;
    if (!*pins_.valid || !*pins_.ready) return;
    const bool first = *pins_.sop, last = *pins_.eop;
    const std::uint32_t count = *pins_.bytes;
    violations_ += first != bytes_.empty() || count == 0 || count > 4 || (!last && count != 4);
    if (first) {
      bytes_.clear();
      began_ = now;
      line_.wait_until(now);
      line_.advance(kPreambleBytes);
    }
    for (std::uint32_t i = 0; i < count && i < 4; ++i)
      bytes_.push_back(static_cast<std::uint8_t>(*pins_.data >> (24 - 8 * i)));
    line_.advance(first ? count - kWordPad : count);
    if (!last) return;
    line_.advance(kFcsBytes + kGapBytes);
    if (bytes_.size() > kWordPad) on_transmitted_(std::span(bytes_).subspan(kWordPad), now);
    bytes_.clear();
  }
  void drive() override { *pins_.ready = line_.now() <= now_; }

 private:
  WordPins pins_;
  LineClock line_;
  OnTransmitted on_transmitted_;
  std::vector<std::uint8_t> bytes_;
  Time now_ = 0, began_ = 0;
  std::uint64_t violations_ = 0;
};

}  // namespace emery

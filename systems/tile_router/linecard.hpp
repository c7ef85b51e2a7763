// SPDX-License-Identifier: Apache-2.0
// What lies beyond the pins of an edge slot: the Ethernet side of a linecard, or a DRAM.
//
// A linecard takes frames from its wire as the paper's do: at a line rate, and when the chip has no
// room they wait outside; nothing is ever lost there. A frame crosses the pins as words with two
// bytes in front (so that the IP header is aligned) and no FCS. It counts as offered when its first
// word is taken, as delivered when its last word has come out. The outgoing wire takes words no
// faster than its line rate, preamble, FCS and gap included.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bench/sim/simulation.hpp"
#include "bench/traffic/frame.hpp"
#include "systems/tile_router/chip.hpp"

namespace emery::tile_router {

inline constexpr std::uint32_t kPad = 2;

class WireIn final : public Component {
 public:
  using Entered = std::function<void(const Frame&, Time)>;

  WireIn(Chip& pins, unsigned slot, FrameSource& source, Entered entered)
      : pins_(pins), slot_(slot), source_(source), entered_(std::move(entered)) {}

  /// Frames that would start from now on do not.
  void stop() { stopped_ = true; }
  /// No frame is on its way into the chip, and none will be.
  bool done() const { return done_; }
  /// A frame is there and the chip does not take it.
  bool stalled() const { return pins_.wire_in_valid_i[slot_] && !pins_.wire_in_ready_o[slot_]; }
  std::uint64_t words() const { return words_; }
  std::uint64_t stall_clocks() const { return stall_clocks_; }

  void sample(Time now) override {
    now_ = now;
    if (!pins_.wire_in_valid_i[slot_]) return;
    if (!pins_.wire_in_ready_o[slot_]) {
      ++stall_clocks_;
      return;
    }
    ++words_;
    if (at_ == 0) entered_(frame_, now);
    at_ += 4;
    if (at_ >= frame_.size + kPad) have_ = false;
  }

  void drive() override {
    if (!have_ && !done_) {
      have_ = !stopped_ && source_.next(frame_);
      done_ = !have_;
      at_ = 0;
    }
    if (have_ && at_ == 0 && stopped_ && !pins_.wire_in_valid_i[slot_]) {
      have_ = false;
      done_ = true;
    }
    const bool valid = have_ && (at_ != 0 || now_ >= frame_.start);
    pins_.wire_in_valid_i[slot_] = valid;
    if (!valid) return;
    const std::uint32_t size = frame_.size + kPad, left = size - at_;
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t byte = at_ + i;
      word = word << 8 | (byte < kPad || byte >= size ? 0u : frame_.data[byte - kPad]);
    }
    pins_.wire_in_data_i[slot_] = word;
    pins_.wire_in_sop_i[slot_] = at_ == 0;
    pins_.wire_in_eop_i[slot_] = left <= 4;
    pins_.wire_in_bytes_i[slot_] = static_cast<std::uint8_t>(left < 4 ? left : 4);
  }

 private:
  Chip& pins_;
  unsigned slot_;
  FrameSource& source_;
  Entered entered_;
  Frame frame_{};
  std::uint32_t at_ = 0;  // byte of frame_, pad included
  bool have_ = false, stopped_ = false, done_ = false;
  Time now_ = 0;
  std::uint64_t words_ = 0, stall_clocks_ = 0;
};

class WireOut final : public Component {
 public:
  using Left = std::function<void(std::span<const std::uint8_t>, Time)>;

  WireOut(Chip& pins, unsigned slot, double rate, Left left)
      : pins_(pins), slot_(slot), line_(rate), left_(std::move(left)) {}

  /// Words outside a frame, frames without an end, wrong byte counts.
  std::uint64_t violations() const { return violations_; }

  void sample(Time now) override {
    now_ = now;
    if (!pins_.wire_out_valid_o[slot_] || !pins_.wire_out_ready_i[slot_]) return;
    const bool first = pins_.wire_out_sop_o[slot_], last = pins_.wire_out_eop_o[slot_];
    const std::uint32_t count = pins_.wire_out_bytes_o[slot_];
    violations_ += first != bytes_.empty() || count == 0 || count > 4 || (!last && count != 4);
    if (first) {
      bytes_.clear();
      line_.wait_until(now);
      line_.advance(kPreambleBytes);
    }
    for (std::uint32_t i = 0; i < count && i < 4; ++i)
      bytes_.push_back(static_cast<std::uint8_t>(pins_.wire_out_data_o[slot_] >> (24 - 8 * i)));
    line_.advance(first ? count - kPad : count);
    if (!last) return;
    line_.advance(kFcsBytes + kGapBytes);
    if (bytes_.size() > kPad) left_(std::span(bytes_).subspan(kPad), now);
    bytes_.clear();
  }
  void drive() override { pins_.wire_out_ready_i[slot_] = line_.now() <= now_; }

 private:
  Chip& pins_;
  unsigned slot_;
  LineClock line_;
  Left left_;
  std::vector<std::uint8_t> bytes_;
  Time now_ = 0;
  std::uint64_t violations_ = 0;
};

/// 256 MB behind the memory pins of a slot: one word written and one read a clock, the word read
/// `latency` clocks later. No banks, no refresh: the port's rate is the limit, as in the paper.
class Dram final : public Component {
 public:
  Dram(Chip& pins, unsigned slot, unsigned latency)
      : pins_(pins), slot_(slot), data_(latency, 0), pages_(kPages) {}

  void load(const std::vector<std::uint32_t>& words) {
    for (std::size_t i = 0; i < words.size(); ++i)
      *word(static_cast<std::uint32_t>(4 * i)) = words[i];
  }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  /// Accesses beyond its size.
  std::uint64_t outside() const { return outside_; }

  void sample(Time) override {
    if (pins_.dram_wr_valid_o[slot_]) {
      ++writes_;
      const std::uint32_t address = pins_.dram_wr_addr_o[slot_], be = pins_.dram_wr_be_o[slot_];
      std::uint32_t mask = 0;
      for (unsigned i = 0; i < 4; ++i) mask |= (be >> i & 1) * (0xffu << 8 * i);
      if (inside(address)) {
        std::uint32_t& at = *word(address);
        at = (at & ~mask) | (pins_.dram_wr_data_o[slot_] & mask);
      }
    }
    if (pins_.dram_rd_valid_o[slot_]) {
      ++reads_;
      const std::uint32_t address = pins_.dram_rd_addr_o[slot_];
      data_[at_] = inside(address) ? *word(address) : 0;
    }
    at_ = at_ + 1 == data_.size() ? 0 : at_ + 1;
  }
  // What was asked for `latency` edges ago, this one included, is there before the next.
  void drive() override { pins_.dram_rd_data_i[slot_] = data_[at_]; }

 private:
  static constexpr std::uint32_t kPageWords = 1 << 14, kPages = (1u << 28) / (4 * kPageWords);
  using Page = std::array<std::uint32_t, kPageWords>;

  bool inside(std::uint32_t address) {
    const bool yes = address < kPages * 4 * kPageWords;
    outside_ += !yes;
    return yes;
  }
  std::uint32_t* word(std::uint32_t address) {
    auto& page = pages_[address / (4 * kPageWords)];
    if (!page) page = std::make_unique<Page>();
    return &(*page)[address / 4 % kPageWords];
  }

  Chip& pins_;
  unsigned slot_;
  std::vector<std::uint32_t> data_;  // on its way
  std::size_t at_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
  std::uint64_t reads_ = 0, writes_ = 0, outside_ = 0;
};

}  // namespace emery::tile_router

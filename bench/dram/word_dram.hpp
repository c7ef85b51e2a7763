// SPDX-License-Identifier: Apache-2.0
// A memory of 256 MB at pins of one word a clock each way: one word written and one read a clock,
// the word read `latency` clocks later. No banks, no refresh (Ddr has them): the port's rate is the
// limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/dram/word_pages.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

/// As pointers into the model; addresses are of bytes.
struct WordDramPins {
  std::uint8_t* rd_valid = nullptr;
  std::uint32_t* rd_addr = nullptr;
  std::uint32_t* rd_data = nullptr;
  std::uint8_t* wr_valid = nullptr;
  std::uint32_t* wr_addr = nullptr;
  std::uint32_t* wr_data = nullptr;
  std::uint8_t* wr_be = nullptr;
};

class WordDram final : public Component {
 public:
  WordDram(const WordDramPins& pins, unsigned latency) : pins_(pins), data_(latency, 0) {}

  void load(std::span<const std::uint32_t> words, std::uint32_t address = 0) {
    pages_.load(address, words);
  }
  /// What is there now.
  std::uint32_t word(std::uint32_t address) { return pages_.word(address); }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  /// Accesses beyond its size.
  std::uint64_t outside() const { return outside_; }

  void sample(Time) override {
    if (*pins_.wr_valid) write();
    if (*pins_.rd_valid) {
      ++reads_;
      data_[at_] = inside(*pins_.rd_addr) ? pages_.word(*pins_.rd_addr) : 0;
    }
    at_ = at_ + 1 == data_.size() ? 0 : at_ + 1;
  }
  // What was asked for `latency` edges ago, this one included, is there before the next.
  void drive() override { *pins_.rd_data = data_[at_]; }

 private:
  void write() {
    ++writes_;
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < 4; ++i) mask |= (*pins_.wr_be >> i & 1u) * (0xffu << 8 * i);
    if (!inside(*pins_.wr_addr)) return;
    std::uint32_t& at = pages_.word(*pins_.wr_addr);
    at = (at & ~mask) | (*pins_.wr_data & mask);
  }
  bool inside(std::uint32_t address) {
    const bool yes = WordPages::inside(address);
    outside_ += !yes;
    return yes;
  }

  WordDramPins pins_;
  std::vector<std::uint32_t> data_;  // on its way
  std::size_t at_ = 0;
  WordPages pages_;
  std::uint64_t reads_ = 0, writes_ = 0, outside_ = 0;
};

}  // namespace emery

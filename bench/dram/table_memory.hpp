// SPDX-License-Identifier: Apache-2.0
// A DRAM with a table in it, and its controller, at pins of one word (route_pkg::table_pins_out_t):
// one access at a time, each at a place of its own, so that each opens a row and takes `latency`
// from when it is taken to its answer and to the next access. Every 7.8 us a refresh of 350 ns goes
// before. An approximation: accesses to several banks could overlap, and words of an open row come
// sooner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "bench/dram/word_pages.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// As pointers into the model; addresses are of bytes.
struct TableMemoryPins {
  const std::uint8_t* valid = nullptr;
  const std::uint8_t* write = nullptr;
  const std::uint32_t* addr = nullptr;
  const std::uint32_t* wdata = nullptr;
  std::uint8_t* ready = nullptr;
  std::uint8_t* rvalid = nullptr;
  std::uint32_t* rdata = nullptr;
};

class TableMemory final : public Component {
 public:
  static constexpr Time kRefreshEvery = 7800 * kNanosecond, kRefresh = 350 * kNanosecond;

  /// `period`: of the clock at the pins; an access takes whole clocks.
  TableMemory(const TableMemoryPins& pins, Time latency, Time period)
      : pins_(pins),
        clocks_(static_cast<unsigned>(std::max<Time>(1, (latency + period - 1) / period))) {}

  /// Words that are there from the start.
  void load(std::uint32_t address, std::span<const std::uint32_t> words) {
    pages_.load(address, words);
  }
  /// From an access to its answer.
  unsigned clocks() const { return clocks_; }
  std::uint64_t outside() const { return outside_; }

  void sample(Time now) override {
    now_ = now;
    if (left_ != 0 && --left_ == 0) reading_ = false;
    if (!*pins_.valid || !*pins_.ready) return;
    left_ = clocks_;
    const std::uint32_t address = *pins_.addr;
    const bool good = WordPages::inside(address);
    outside_ += !good;
    if (*pins_.write) {
      ++writes_;
      if (good) pages_.word(address) = *pins_.wdata;
    } else {
      ++reads_;
      reading_ = true;
      word_ = good ? pages_.word(address) : 0;
    }
  }
  void drive() override {
    if (now_ >= refresh_at_ && left_ == 0) {
      refreshed_at_ = now_ + kRefresh;
      refresh_at_ += kRefreshEvery;
    }
    *pins_.rvalid = reading_ && left_ == 1;
    *pins_.rdata = word_;
    *pins_.ready = left_ <= 1 && now_ < refresh_at_ && now_ >= refreshed_at_;
  }

  void write(JsonWriter& json) const {
    json.begin_object()
        .field("reads", reads_)
        .field("writes", writes_)
        .field("clocks", clocks_)
        .end_object();
  }

 private:
  TableMemoryPins pins_;
  unsigned clocks_, left_ = 0;  // of the access at hand
  bool reading_ = false;
  std::uint32_t word_ = 0;
  Time now_ = 0, refresh_at_ = kRefreshEvery, refreshed_at_ = 0;
  WordPages pages_;
  std::uint64_t reads_ = 0, writes_ = 0, outside_ = 0;
};

}  // namespace emery

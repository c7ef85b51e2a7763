// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/frame_trace.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace emery {
namespace {

// Stages, counted from those that a switch has one more of.
enum Stage : unsigned { kCmacRx = 1, kRxBuffer, kDmaWrite };
constexpr std::size_t kMostArrived = 4096;  // of a card; older ones it has dropped

}  // namespace

FrameTrace::FrameTrace(const std::string& path, std::uint32_t bytes, unsigned cards,
                       bool through_a_switch, std::function<Time(Time)> clock)
    : score_({.order_promised = false}),  // queues overtake each other
      trace_(path, score_, bytes),
      through_a_switch_(through_a_switch),
      clock_(std::move(clock)),
      cards_(cards) {
  score_.observe(&trace_);
  std::vector<std::string> stages = {"cmac_tx", "cmac_rx", "rx_buffer", "dma_write", "cpl_write"};
  if (through_a_switch) stages.insert(stages.begin() + 1, "switch");
  trace_.add_way(std::move(stages));
}

RootComplex::Observer& FrameTrace::memory_of(unsigned card, HostMemory& memory) {
  cards_[card].memory = std::make_unique<Memory>(*this, card, memory);
  return *cards_[card].memory;
}

void FrameTrace::sent(unsigned from, unsigned to, std::span<const std::uint8_t> bytes, Time began,
                      Time arrived, const std::string& dropped) {
  const int stream = score_.stream(std::to_string(from) + "->" + std::to_string(to));
  score_.offered(stream, bytes, 0, clock_(began));
  const Trace::Number number = trace_.newest();
  if (through_a_switch_) trace_.mark(number, 1, clock_(arrived));
  if (dropped.empty()) {
    cards_[to].on_the_way.push_back({number, stream, {bytes.begin(), bytes.end()}});
  } else {
    trace_.lost(number, dropped);
    score_.dropped(stream, dropped, 1);
  }
}

void FrameTrace::receiving(unsigned to, Time started, Time arrives) {
  Card& card = cards_[to];
  if (card.on_the_way.empty()) return;
  card.arrived.push_back(std::move(card.on_the_way.front()));
  card.on_the_way.pop_front();
  const Trace::Number number = card.arrived.back().number;
  trace_.mark(number, through_a_switch_ + kCmacRx, clock_(started));
  trace_.mark(number, through_a_switch_ + kRxBuffer, clock_(arrives));
  if (card.arrived.size() <= kMostArrived) return;
  std::deque<Item> oldest;
  oldest.push_back(std::move(card.arrived.front()));
  card.arrived.pop_front();
  lose(oldest, "not_in_memory");
}

void FrameTrace::lose(std::deque<Item>& items, const std::string& reason) {
  for (const Item& item : items) {
    trace_.lost(item.number, reason);
    score_.dropped(item.stream, reason, 1);
  }
  items.clear();
}

void FrameTrace::in_memory(const Item& item, HostMemory& memory, Time time) {
  const std::uint8_t* at = memory.pointer(item.addr, item.bytes.size());
  if (at != nullptr) score_.delivered(item.stream, {at, item.bytes.size()}, clock_(time));
}

void FrameTrace::Memory::wrote(std::uint64_t addr, std::uint32_t bytes, Time time) {
  Card& card = trace_.cards_[card_];
  const auto goes_on = [&](const Item& x) {
    return addr > x.addr && addr < x.addr + x.bytes.size();
  };
  const auto half = std::find_if(card.half_written.begin(), card.half_written.end(), goes_on);
  if (half != card.half_written.end()) {
    if (addr + bytes < half->addr + half->bytes.size()) return;
    trace_.in_memory(*half, memory_, time);
    card.half_written.erase(half);
    return;
  }
  const std::uint8_t* at = memory_.pointer(addr, bytes);
  if (at == nullptr) return;
  const auto begins = [&](const Item& x) {
    return std::memcmp(at, x.bytes.data(), std::min<std::size_t>(bytes, x.bytes.size())) == 0;
  };
  const auto found = bytes < 14 ? card.arrived.end()
                                : std::find_if(card.arrived.begin(), card.arrived.end(), begins);
  if (found == card.arrived.end()) return;
  Item item = std::move(*found);
  card.arrived.erase(found);
  item.addr = addr;
  trace_.trace_.mark(item.number, trace_.through_a_switch_ + kDmaWrite, trace_.clock_(time));
  if (bytes >= item.bytes.size()) {
    trace_.in_memory(item, memory_, time);
  } else {
    card.half_written.push_back(std::move(item));
  }
}

void FrameTrace::close() {
  for (Card& card : cards_) {
    lose(card.on_the_way, "run_ended");
    lose(card.arrived, "not_in_memory");
    lose(card.half_written, "not_in_memory");
  }
  trace_.close();
}

void FrameTrace::check(Findings& findings) const {
  for (const std::string& line : score_.failures()) findings.add(line);
}

}  // namespace emery

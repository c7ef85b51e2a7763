// SPDX-License-Identifier: Apache-2.0
// The trace of what guest machines' cards send each other: a record for each frame, or each copy
// that a switch makes of one, from the line of the card that sends it to the memory of the machine
// that gets it (bench/run/trace.hpp).
//
// Drivers are the guests' own, and where they have their buffers nobody says: a frame that has come
// to a card is looked for in what the card writes. So it has to write them as they came, each from
// the beginning of a buffer. What the card has not written is dropped as `not_in_memory`: no
// descriptor, the interface down, a reset; what is under way at the end as `run_ended`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/pcie/host_memory.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/run/trace.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"

namespace emery {

class FrameTrace {
 public:
  /// `clock`: what a time of the simulation is in the trace.
  FrameTrace(const std::string& path, std::uint32_t bytes, unsigned cards, bool through_a_switch,
             std::function<Time(Time)> clock);

  /// What a card writes of its machine's memory.
  RootComplex::Observer& memory_of(unsigned card, HostMemory& memory);
  /// A frame whose first bit left a card at `began`, and whose last one `arrived` at the far end of
  /// its line, goes to another. Not empty: it is dropped there, for that reason.
  void sent(unsigned from, unsigned to, std::span<const std::uint8_t> bytes, Time began,
            Time arrived, const std::string& dropped);
  /// The next of those sent to that card is on its line.
  void receiving(unsigned to, Time started, Time arrives);
  /// Writes the records.
  void close();
  void check(Findings& findings) const;

 private:
  struct Item {
    Trace::Number number;
    int stream;
    std::vector<std::uint8_t> bytes;
    std::uint64_t addr = 0;  // where it is written to
  };
  class Memory final : public RootComplex::Observer {
   public:
    Memory(FrameTrace& trace, unsigned card, HostMemory& memory)
        : trace_(trace), card_(card), memory_(memory) {}
    void wrote(std::uint64_t addr, std::uint32_t bytes, Time time) override;
    void asked(std::uint64_t, std::uint32_t, Time) override {}
    void answered(std::uint64_t, std::uint32_t, Time) override {}

   private:
    FrameTrace& trace_;
    unsigned card_;
    HostMemory& memory_;
  };
  struct Card {
    std::deque<Item> on_the_way, arrived, half_written;
    std::unique_ptr<Memory> memory;
  };

  void lose(std::deque<Item>& items, const std::string& reason);
  void in_memory(const Item& item, HostMemory& memory, Time time);

  Scoreboard score_;
  Trace trace_;
  bool through_a_switch_;
  std::function<Time(Time)> clock_;
  std::vector<Card> cards_;
};

}  // namespace emery

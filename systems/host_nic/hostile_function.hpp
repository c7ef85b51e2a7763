// SPDX-License-Identifier: Apache-2.0
// A virtual function in the hands of someone hostile: whatever its registers, its memory and its
// configuration space let it do, at random and without end.
//
// It writes any value to any register of its BAR, most of all to those of its queues; sets up
// queues with descriptors, rings and records that lie in memory of other functions, of nobody, or
// at the end of all addresses; rings doorbells as fast as a CPU can; makes interrupt messages of
// others, and says that it has their addresses; resets its function in the middle of all that, and
// takes bus mastering away and back. It leaves the way from the CPUs to the link free for others:
// its writes wait behind each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/pcie/function_host.hpp"
#include "bench/sim/random.hpp"
#include "bench/stats/json.hpp"

namespace emery::host_nic {

class HostileFunction {
 public:
  /// `own`: its side of the machine. `reset_every`: between two function-level resets.
  HostileFunction(FunctionHost& own, unsigned queues, unsigned ports, Time reset_every,
                  std::uint64_t seed, bool filter);

  /// Memory that belongs to others.
  void knows(std::uint64_t victim) { victims_.push_back(victim); }
  /// Its function is there. Advances simulated time.
  void open();
  void clock(Time now);
  /// It is taken from the card: its function is reset for good. Advances simulated time.
  void close();

  void write(JsonWriter& json) const {
    json.begin_object()
        .field("writes", writes_)
        .field("doorbells", doorbells_)
        .field("armed", armed_)
        .field("resets", resets_)
        .field("mastering_off", unmastered_)
        .end_object();
  }

 private:
  static constexpr std::uint64_t kMemory = 1 << 16;
  std::uint64_t address();
  void put(std::uint32_t offset, std::uint32_t value);
  void fill();
  void arm();
  void storm();
  void scribble();
  void impersonate();
  void readdress();
  void reset(bool for_good);
  void command(std::uint32_t value);

  FunctionHost& host_;
  unsigned queues_, ports_;
  bool filter_;  // functions have addresses
  Time reset_every_, reset_at_ = 0;
  Random random_;
  std::vector<std::uint64_t> victims_;
  std::uint64_t memory_ = 0;
  bool asks_ = false;  // a configuration request is under way
  std::uint64_t writes_ = 0, doorbells_ = 0, armed_ = 0, resets_ = 0, unmastered_ = 0;
};

}  // namespace emery::host_nic

// SPDX-License-Identifier: Apache-2.0
// Frames that did not come out and were counted: by the device, by its firmware in a register of
// the device, by the driver.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/score/scoreboard.hpp"
#include "systems/core_nic/driver.hpp"

namespace emery::core_nic {

class Drops {
 public:
  /// The streams to and from the wire; -1: nothing is sent that way.
  Drops(int tx, int rx) : tx_(tx), rx_(rx) {}

  /// The device leaves its reset, and sees of so many frames that have begun on the wire the first
  /// beat after it: all others towards the host are lost.
  void in_reset(Scoreboard& score, unsigned unseen) { lost_ += gone(score, rx_, unseen); }
  /// So are those towards the wire. The frames lost in this reset, both ways.
  std::uint64_t lose(Scoreboard& score) { return std::exchange(lost_, 0) + gone(score, tx_, 0); }

  /// Says whether the counts have moved on. Takes simulated time.
  bool read(Driver& driver);
  /// The frames that neither came out nor are counted, stream by stream, in words; else empty.
  std::string missing(const Scoreboard& score) const;
  void account(Scoreboard& score) const;

 private:
  struct Drop {
    int stream;
    std::string reason;
    std::uint64_t frames;
    bool operator==(const Drop&) const = default;
  };

  static std::uint64_t gone(Scoreboard& score, int stream, std::uint64_t unseen);

  int tx_, rx_;
  std::uint64_t lost_ = 0;   // in a reset
  std::vector<Drop> drops_;  // when they were last read
};

}  // namespace emery::core_nic

// SPDX-License-Identifier: Apache-2.0
// Time of one guest: the calendar's end of the protocol by which a user-mode Linux started with
// time-travel=ext:SOCKET asks when it may go on (include/uapi/linux/um_timetravel.h of its source).
//
// A guest either runs, at a time that stands still, or waits until its next timer or an interrupt.
// It is never allowed to run ahead on its own (FREE_UNTIL is not sent), so nothing it does depends
// on how fast it does it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "bench/guest/channel.hpp"

namespace emery {

class TimeLink {
 public:
  static constexpr std::uint64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

  /// `now` says the calendar's time in ns.
  TimeLink(Descriptor link, std::function<std::uint64_t()> now)
      : link_(std::move(link)), now_(std::move(now)) {}

  int number() const { return link_.number(); }
  /// Answers the guest's next message.
  void serve();
  /// The guest has ended.
  bool gone() const { return gone_; }
  bool waits() const { return waits_; }
  /// When it wants to run again, in ns.
  std::uint64_t wanted() const { return wanted_; }
  /// Lets a guest that waits go on: its time is `now`, which is what it wanted.
  void run();

 private:
  struct Message {
    std::uint32_t op, seq;
    std::uint64_t time;
  };
  bool read(Message& message);

  Descriptor link_;
  std::function<std::uint64_t()> now_;
  std::uint64_t wanted_ = kNeverNs;
  std::uint32_t seq_ = 0;
  bool waits_ = false, gone_ = false;
};

}  // namespace emery

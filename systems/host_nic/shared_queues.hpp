// SPDX-License-Identifier: Apache-2.0
// Queues that the ports of an interface share: which ports each transmit queue leaves by, changed
// in the middle of traffic as a control program would, by the schedulers' registers alone; and what
// records say of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

class SharedQueues {
 public:
  /// `driver` is told to leave records of what was sent here; lines have `rate` bits a second.
  SharedQueues(const Options& options, Driver& driver, double rate);

  /// The device's clock was 0: what its stamps said before is over.
  void started() { std::fill(arrived_.begin(), arrived_.end(), Arrived()); }
  /// The driver has opened the device.
  void opened(Time now);
  /// Once each clock of traffic: moves what is due.
  void clock(Time now) {
    if (now >= next_) move(now);
  }
  /// A frame has come to the host, of so many bytes on the line without FCS.
  void received(const Received& record, unsigned port, std::size_t bytes);
  /// So many frames have left by each port.
  void check(const std::vector<std::uint64_t>& left, Findings& findings) const;
  /// Those of another driver of the same card, for the result.
  SharedQueues& operator+=(const SharedQueues& other);
  void write(JsonWriter& json) const;

 private:
  static constexpr Time kNever = INT64_MAX;
  struct Sent {
    unsigned port = 0;
    bool some = false;
  };
  struct Arrived {
    std::uint64_t end = 0;  // of the newest frame, in ps of the device's clock
    unsigned ports = 0;     // that it had frames of, a bit each
  };

  void move(Time now);
  void sent(const emnic_completion& completion);

  bool on_, all_, clock_moves_, stream_;
  unsigned interfaces_, ports_;
  double ps_a_byte_;
  Time every_, next_ = kNever;
  Driver& driver_;
  std::vector<unsigned> moved_to_;   // of each transmit queue: its port
  unsigned turn_ = 0;                // the next queue to be moved
  std::vector<Sent> sent_;           // of each transmit queue
  std::vector<Arrived> arrived_;     // of each receive queue
  std::vector<std::uint64_t> told_;  // frames by each port
  std::uint64_t moves_ = 0, changes_ = 0, wrong_slots_ = 0, wrong_ports_ = 0, behind_ = 0;
};

}  // namespace emery::host_nic

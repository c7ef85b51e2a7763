// SPDX-License-Identifier: Apache-2.0
// The PCIe links of a capture device into one host memory, what happens to one of them during the
// run, and what the operating system and the library do about it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/pcie/host_memory.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "sw/capture/emcap.h"

namespace emery::capture {

/// Times from the start of traffic, 0: never.
struct LinkFaults {
  unsigned link;
  double rate;
  Time lost_at, back_at, stall_at, stall_for;

  /// Throws OptionError for what cannot happen to so many links.
  LinkFaults(const Options& options, unsigned links);
};

class Links {
 public:
  using Pins = std::function<EndpointPins(unsigned link)>;

  Links(const Options& options, Simulation& simulation, HostMemory& memory, int clock,
        const Pins& pins);

  unsigned count() const { return static_cast<unsigned>(link_.size()); }
  PcieHost& operator[](unsigned l) { return *link_[l]; }

  /// Traffic begins now: faults count from here. Without a device nobody calls look().
  void start(emcap* device);
  /// Between steps: restores a link that is back, and does the library's regular work; true when
  /// that was done.
  bool look();
  /// When the link that stands still now goes on; 0: none does.
  Time stalled_until() const;
  /// Takes a reading of the payload so far, for payload_gbps().
  void mark(Time now);

  /// Over the middle of the readings.
  double payload_gbps(unsigned link) const;
  bool at_rest() const;
  /// What went against the rules, and, in check(), what is not back.
  void check_rules(Findings& findings) const;
  void check(Findings& findings) const;
  void write(JsonWriter& json, const emcap_counters& counters) const;

 private:
  struct Point {
    Time time;
    std::uint64_t payload[2];
  };

  void event(bool lost, Time now);

  Simulation& simulation_;
  LinkFaults faults_;
  Time service_every_, start_ = 0, next_service_ = 0;
  std::vector<std::unique_ptr<PcieHost>> link_;
  emcap* device_ = nullptr;
  bool back_ = false;  // the link has come back, and nobody has seen to it yet
  std::vector<Point> points_;
};

}  // namespace emery::capture

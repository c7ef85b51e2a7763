// SPDX-License-Identifier: Apache-2.0
// Hot resets of a slot in the middle of traffic: the link goes down, the device is reset with it,
// whatever it is doing; when the link is back the host enumerates the device and answers what that
// had asked before, and the driver opens it anew, in other memory. Settings: reset_at_us,
// reset_every_us, reset_us.
//
// Old answers come when no read is under way: the device must drop each, and say so. (One that
// comes later no device can tell from that of a new read with its tag; a host is to wait for its
// own.) A write to memory that was given back, or a TLP that breaks a rule, fails the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/pcie/host_memory.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"

namespace emery {

class SlotReset {
 public:
  /// What a system does about it. All but `hold` and `lose` may advance simulated time.
  struct System {
    std::function<void(bool)> hold;          // the device in reset, and out of it
    std::function<std::uint64_t()> lose;     // counts what was with it as lost: so many frames
    std::function<void()> settle;            // waits until the device may be looked at
    std::function<std::uint64_t()> dropped;  // completions the device has dropped since the reset
    std::function<void()> open;              // the driver, as when it was new
    std::vector<int> streams;                // that have recovered when a frame comes out
  };

  explicit SlotReset(const Options& options)
      : next_(options.fine_us("reset_at_us")),
        every_(options.fine_us("reset_every_us")),
        lasts_(options.us("reset_us")) {
    if (next_ == 0) next_ = kNever;
  }

  /// One is due before `until` of traffic that began at `start`.
  bool due(Time start, Time until) const { return next_ < until - start; }

  void strike(Time start, Simulation& simulation, PcieHost& host, HostMemory& memory,
              const System& system) {
    simulation.run_until(start + next_);
    under_way_ = true;
    Reset& reset = resets_.emplace_back();
    reset.at = simulation.now();
    reset.since_start = reset.at - start;
    system.hold(true);
    host.endpoint->show_up(false);
    host.endpoint->set_link_lost(true, true, reset.at);
    host.root.link_lost(true);
    simulation.run_for(lasts_);
    host.endpoint->set_link_lost(false, true, simulation.now());
    host.endpoint->show_up(true);
    system.hold(false);
    reset.lost = system.lose();
    system.settle();
    host.root.enumerate();
    reset.answers = host.root.stats().completions;
    reset.dropped = host.endpoint->stats().rx_misrouted;
    host.root.answer_kept();
    simulation.run_until([&] { return host.root.reads_open() == 0 && host.at_rest(); },
                         simulation.now() + kPatience);
    reset.answers = host.root.stats().completions - reset.answers;
    reset.dropped = host.endpoint->stats().rx_misrouted - reset.dropped + system.dropped();
    memory.free_all();
    if (resets_.size() == 1) wild_before_ = host.root.stats().wild_writes;
    system.open();
    reset.opened = simulation.now() - reset.at;
    waiting_ = system.streams;
    under_way_ = false;
    next_ = every_ ? simulation.now() - start + every_ : kNever;
  }

  /// The driver has nothing to do with the device.
  bool under_way() const { return under_way_; }

  /// A frame of that stream has come out.
  void delivered(int stream, Time now) {
    if (waiting_.empty() || std::erase(waiting_, stream) == 0 || !waiting_.empty()) return;
    resets_.back().recovered = now - resets_.back().at;
  }

  void check(const PcieHost& host, Findings& findings) const {
    if (resets_.empty()) return;
    findings.add(host.root.stats().wild_writes - wild_before_,
                 "writes to memory from before a reset");
    for (const Reset& reset : resets_) {
      if (reset.dropped != reset.answers)
        findings.add(std::to_string(reset.answers) + " answers from before a reset, " +
                     std::to_string(reset.dropped) + " of them dropped and counted");
    }
  }

  /// An array of objects.
  void write(JsonWriter& json) const {
    const auto us = [](Time time) { return static_cast<double>(time) / kMicrosecond; };
    json.begin_array();
    for (const Reset& reset : resets_) {
      json.begin_object()
          .field("at_us", us(reset.since_start))
          .field("opened_us", us(reset.opened))
          .key("recovered_us");
      reset.recovered ? json.value(us(reset.recovered)) : json.null();
      json.field("lost_frames", reset.lost)
          .field("late_completions", reset.answers)
          .field("dropped_completions", reset.dropped)
          .end_object();
    }
    json.end_array();
  }

 private:
  static constexpr Time kPatience = 100 * kMicrosecond;

  struct Reset {
    Time at = 0, since_start = 0, opened = 0, recovered = 0;
    std::uint64_t lost = 0, answers = 0, dropped = 0;
  };

  Time next_, every_, lasts_;  // next_: of traffic
  bool under_way_ = false;
  std::vector<int> waiting_;  // streams
  std::vector<Reset> resets_;
  std::uint64_t wild_before_ = 0;
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// Resets of a device in the middle of traffic, whatever it is doing; after it the host enumerates
// the device, and the driver opens it anew, in other memory. Settings: reset_kind, reset_at_us,
// reset_every_us, reset_us.
//
// In a hot reset of the slot the link goes down, and the device is reset with it. When the link is
// back the host answers what had been asked before, when no read is under way: the device must drop
// each answer, and say so. (One that comes later no device can tell from that of a new read with
// its tag; a host is to wait for its own.)
//
// In a function-level reset the host writes Initiate FLR and waits: a real one 100 ms, this one
// reset_us, or longer if the device is not through by then. The link stays up; what the device
// asked for is answered when it would have been. Completions that it has got since it was through,
// it must have counted as late.
//
// A write to memory that was given back, or a TLP that breaks a rule, fails the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/pcie/host_calls.hpp"
#include "bench/pcie/host_memory.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/reset_plan.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"

namespace emery {

class SlotReset {
 public:
  /// What a system does about it. All but `hold` and `lose` may advance simulated time.
  struct System {
    std::function<void(bool)> hold;  // the device in reset, and out of it
    std::function<void(Time)>
        settle;  // waits until it may be looked at; reset not before that time
    std::function<std::uint64_t()> lose;     // counts what was with it as lost: so many frames
    std::function<std::uint64_t()> dropped;  // completions the device has dropped since the reset:
    std::function<std::uint64_t()> late;     // that it did not expect, and that came too late
    std::function<void()> open;              // the driver, as when it was new
    std::vector<int> streams;                // that have recovered when a frame comes out
  };

  explicit SlotReset(const Options& options) : plan_(options) {
    if (plan_.next == 0) plan_.next = kNever;
  }

  /// One is due before `until` of traffic that began at `start`.
  bool due(Time start, Time until) const { return plan_.due(start, until); }

  void strike(Time start, Simulation& simulation, PcieHost& host, HostMemory& memory,
              const System& system) {
    simulation.run_until(start + plan_.next);
    Reset& reset = resets_.emplace_back();
    const std::uint16_t control = device_control(host.root);
    const std::uint32_t initiate =
        plan_.function ? host.root.config_read(control) | kInitiateReset : 0;
    under_way_ = true;
    reset.at = simulation.now();
    reset.since_start = reset.at - start;
    if (plan_.function) {
      host.root.config_write(control, initiate, 0x3);
      simulation.run_for(plan_.lasts);
      reset.done = simulation.run_until([&] { return !host.endpoint->resets_function(); },
                                        simulation.now() + ResetPlan::kPatience);
      host.root.fail_requests();
    } else {
      system.hold(true);
      host.endpoint->show_up(false);
      host.endpoint->set_link_lost(true, true, reset.at);
      host.root.link_lost(true);
      simulation.run_for(plan_.lasts);
      host.endpoint->set_link_lost(false, true, simulation.now());
      host.endpoint->show_up(true);
      system.hold(false);
    }
    system.settle(reset.at);
    reset.lost = system.lose();
    host.root.enumerate();
    reset.answers = host.root.stats().completions;
    reset.dropped = host.endpoint->stats().rx_misrouted;
    host.root.answer_kept();
    simulation.run_until([&] { return host.root.reads_open() == 0 && host.at_rest(); },
                         simulation.now() + ResetPlan::kPatience);
    if (plan_.function) {
      reset.answers = host.endpoint->completions_since_reset();
      reset.dropped = system.late();
      reset.unexpected = system.dropped();
    } else {
      reset.answers = host.root.stats().completions - reset.answers;
      reset.dropped = host.endpoint->stats().rx_misrouted - reset.dropped + system.dropped();
    }
    memory.free_all();
    if (resets_.size() == 1) wild_before_ = host.root.stats().wild_writes;
    system.open();
    reset.opened = simulation.now() - reset.at;
    waiting_ = system.streams;
    under_way_ = false;
    plan_.again(simulation.now() - start);
  }

  /// There is one, or was.
  bool any() const { return plan_.next != kNever || !resets_.empty(); }

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
      reset.check(findings);
      findings.add(reset.unexpected,
                   "completions after a function-level reset that nobody asked for");
      // Some more of them were on their way in the device when the hard block was told.
      if (plan_.function ? reset.dropped < reset.answers : reset.dropped != reset.answers)
        findings.add(std::to_string(reset.answers) + " answers from before a reset, " +
                     std::to_string(reset.dropped) + " of them dropped and counted");
    }
  }

  /// An array of objects.
  void write(JsonWriter& json) const {
    json.begin_array();
    for (const Reset& reset : resets_) {
      json.begin_object();
      reset.write(json);
      json.field("lost_frames", reset.lost)
          .field("late_completions", reset.answers)
          .field("dropped_completions", reset.dropped)
          .end_object();
    }
    json.end_array();
  }

 private:
  struct Reset : ResetTimes {
    std::uint64_t lost = 0, answers = 0, dropped = 0, unexpected = 0;
  };

  ResetPlan plan_;
  bool under_way_ = false;
  std::vector<int> waiting_;  // streams
  std::vector<Reset> resets_;
  std::uint64_t wild_before_ = 0;
};

}  // namespace emery

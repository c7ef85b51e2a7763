// SPDX-License-Identifier: Apache-2.0
// What is sent through a system: the run's settings read once, and the sources made of them.
//
// Settings: size (or a capture: pcap for all ports, pcap.PORT for one), flows, rate, seed, and
// frames or duration_ps; `replay_speed` plays captures when their stamps say, so many times as
// fast. What may be left out: arrivals, flow_weights, flow_length, ipv6, vlan (bench/traffic), and
// `closed_loop`, the most frames of a source that are inside at a time (closed_loop.hpp). One
// capture for all ports is dealt to them by flow. Where any port has a capture, ports without one
// are silent: nothing is generated. Nor is anything in a live run (bench/live), whose frames come
// from interfaces of this machine: then there is no `size`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/live/live.hpp"
#include "bench/run/closed_loop.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/traffic/traffic.hpp"

namespace emery {

class Workload {
 public:
  /// The line of each port.
  struct Line {
    double rate;            // bits a second
    std::uint32_t longest;  // frame, without FCS
    std::string limit;      // what says so, as in "the MTU of 9000 allows"

    /// One that carries what the setting `mtu` says, behind an Ethernet header with a VLAN tag.
    static Line of_mtu(const Options& options, double rate) {
      const auto mtu = options.get<unsigned>("mtu");
      return {rate, mtu + kTaggedHeader, "the MTU of " + std::to_string(mtu) + " allows"};
    }
  };

  /// Throws OptionError, CaptureError and std::invalid_argument, each with a line that says what is
  /// wrong with the settings.
  Workload(const Options& options, const Line& line, unsigned ports);

  bool captures() const { return captures_; }
  /// The frames of a port, of one source of `count` that share what all ports are sent; none when
  /// the port is silent.
  std::optional<TrafficConfig> port(unsigned port, unsigned index, unsigned count) const;
  std::optional<TrafficConfig> port(unsigned p) const { return port(p, p, ports()); }
  /// What all ports have in common.
  const TrafficConfig& common() const { return common_; }
  unsigned ports() const { return static_cast<unsigned>(own_.size()); }

 private:
  /// The earliest stamp of all captures.
  std::int64_t earliest() const;

  TrafficConfig common_;  // with the capture for all ports
  std::vector<std::shared_ptr<const Capture>> own_;
  bool captures_ = false;
};

/// What sources have given.
struct Sent {
  std::uint64_t frames = 0, ipv6 = 0, vlan = 0, flows = 0;
  std::uint64_t written_off = 0;  // frames that a closed loop no longer waited for

  void write(JsonWriter& json) const;
};

/// The frames of one plan, from the start of traffic on: pulled by a wire, or handed to a driver
/// when they are due.
class Source final : public FrameSource {
 public:
  using Ended = std::function<void(const Source&)>;

  using Clock = std::function<Time()>;

  /// `played`: what the source gave has left whatever took it. `ended` is called once, when no more
  /// frames come.
  Source(TrafficConfig plan, std::function<bool()> played, Ended ended)
      : plan_(std::move(plan)), played_(std::move(played)), ended_(std::move(ended)) {}

  void start(Time now);
  /// No more than `most` of its frames are inside, from now on.
  void close(std::uint32_t most, Clock clock) {
    loop_.emplace(most);
    clock_ = std::move(clock);
  }
  /// A frame is not inside any more (or never will be): of a closed loop.
  void left(std::uint64_t number) {
    if (loop_) loop_->leave(number);
  }
  /// Its frames are those that come at a place of a live run, in place of the plan's; null: none
  /// do. Before it is started.
  void play(const Live& live, Tap* tap, Clock clock);
  bool next(Frame& frame) override;
  bool over() const override { return over_; }

  /// For drivers: the next frame when it is due, else null; `pop` when it has been taken.
  const Frame* due(Time now);
  void pop() { held_ = false; }

  /// None is held, and what it gave has been played.
  bool idle() const { return !held_ && (!played_ || played_()); }
  /// No more come, and all have been played.
  bool finished() const { return over_ && idle(); }
  /// How much of what it is to send it has sent, 0 ... 1.
  double part(Time now) const;
  const TrafficConfig& plan() const { return plan_; }
  /// Adds what it has sent.
  void add_to(Sent& sent) const;

 private:
  bool next_live(Frame& frame);
  void end();

  TrafficConfig plan_;
  std::optional<ClosedLoop> loop_;
  Clock clock_;
  std::function<bool()> played_;
  Ended ended_;
  std::unique_ptr<Traffic> traffic_;
  const Live* live_ = nullptr;
  Tap* tap_ = nullptr;
  Frame frame_{};
  bool held_ = false, over_ = false;
};

}  // namespace emery

// SPDX-License-Identifier: Apache-2.0
// A learning Ethernet switch between any number of NICs, or models of something else, whose ends
// are those of Wire. All ports have one rate.
//
// As IEEE 802.1Q has a bridge of one filtering database: a frame is taken whole; its source
// address, if it is that of one station, is of that port from then on, until it has not been heard
// of for `ageing`; it goes out at the port of its destination, and at all others where that is
// unknown or a group. What would go back where it came from, and groups that no bridge forwards
// (01-80-C2-00-00-00 to -0F), goes nowhere. A frame leaves `latency` after its last bit came, or
// when those before it at its port have; one that finds `queue_bytes` of others waiting there is
// dropped at that port. All of that is counted.
//
// Approximations: no VLANs, no priorities, no pause frames, no spanning tree (a loop of wires goes
// round for ever); memory is of each output by itself. Ends' own propagation comes on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/frame_queue.hpp"

namespace emery {

class EthernetSwitch {
 public:
  struct Config {
    double rate = 100e9;  // of each port, in bits a second
    Time latency = 500 * kNanosecond;
    std::uint64_t queue_bytes = 512 << 10;     // with FCS, waiting at a port
    Time ageing = 300'000'000 * kMicrosecond;  // by the clock
    std::size_t addresses = 8192;              // known at a time; a new one beyond is not learned
  };
  struct PortStats {
    std::uint64_t in = 0;          // frames that came
    std::uint64_t out = 0;         // copies put into its queue
    std::uint64_t flooded = 0;     // of those that came: to all others
    std::uint64_t filtered = 0;    // of those that came: to nobody
    std::uint64_t dropped = 0;     // copies that found its queue full
    std::uint64_t most_bytes = 0;  // that waited
  };
  /// A copy of a frame, for which there was room or not.
  struct Copy {
    unsigned from, to;
    std::span<const std::uint8_t> bytes;
    Time arrived;
    bool dropped;
  };
  using OnFrame =
      std::function<void(unsigned from, std::span<const std::uint8_t> bytes, Time arrived)>;

  /// `clock`: the time by which addresses grow old, of a time of the simulation.
  EthernetSwitch(Simulation& simulation, const Config& config,
                 std::function<Time(Time)> clock = {});

  /// One more port. The end has to stay.
  template <class End>
  void join(End& end) {
    const auto number = static_cast<unsigned>(ports_.size());
    ports_.push_back(std::make_unique<Port>());
    end.on_transmitted([this, number](std::span<const std::uint8_t> bytes, Time arrived) {
      forward(number, bytes, arrived);
    });
    end.set_source(&ports_.back()->held);
  }
  /// Told of each frame that has come, and then of each copy of it.
  void on_frame(OnFrame callback) { on_frame_ = std::move(callback); }
  void on_copy(std::function<void(const Copy&)> callback) { on_copy_ = std::move(callback); }

  unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  const PortStats& stats(unsigned port) const { return ports_[port]->stats; }
  std::size_t addresses() const { return table_.size(); }
  std::uint64_t not_learned() const { return not_learned_; }
  /// Copies on their way.
  std::size_t under_way() const;
  void write(JsonWriter& json) const;

 private:
  struct Port {
    struct Waiting {
      Time until;
      std::uint32_t bytes;  // with FCS
    };
    FrameQueue held;              // not yet taken by the end
    std::deque<Waiting> waiting;  // not yet begun on the line
    std::uint64_t waiting_bytes = 0;
    Time free = 0;  // the line is busy until then
    PortStats stats;
  };
  struct Station {
    unsigned port;
    Time heard;
  };

  void forward(unsigned from, std::span<const std::uint8_t> bytes, Time arrived);
  void learn(std::uint64_t address, unsigned port, Time now);
  void forget(Time now);
  void put(unsigned from, unsigned to, std::span<const std::uint8_t> bytes, Time arrived);

  Simulation& simulation_;
  Config config_;
  std::function<Time(Time)> clock_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::unordered_map<std::uint64_t, Station> table_;
  Time forgot_ = 0;  // when old addresses were looked for last
  std::uint64_t not_learned_ = 0;
  OnFrame on_frame_;
  std::function<void(const Copy&)> on_copy_;
};

}  // namespace emery

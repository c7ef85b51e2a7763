// SPDX-License-Identifier: Apache-2.0
// A machine with TCP connections: what comes is given to the connection it is for, and what these
// have to say is asked for frame by frame, in turns.
//
// Its CPUs: each connection is served by one, as a process of iperf3 is, and each segment, sent or
// received, takes a stated time of it and more by its bytes. With segmentation offload (`packet`)
// segments of a burst count as one up to that length; there is no such thing for what is received.
// What came waits for its CPU in order, and an acknowledgement it asks for goes first; a busy CPU
// sends nothing. Approximation: no caches, no
// scheduler, no interrupts; reading and writing memory is in the stated times.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/tcp/connection.hpp"

namespace emery::tcp {

struct StationConfig {
  Time per_segment = 0, per_kb = 0;  // CPU time; of 1000 bytes
  unsigned cpus = 0;                 // 0: one for each connection
  std::uint32_t packet = 0;          // bytes that are sent as one; 0: each segment by itself
  Time delay = 0;                    // from a frame's arrival until it is looked at
};

class Station {
 public:
  Station(const StationConfig& config, const std::vector<ConnectionConfig>& connections);

  std::size_t size() const { return places_.size(); }
  Connection& operator[](std::size_t n) { return places_[n].connection; }
  const Connection& operator[](std::size_t n) const { return places_[n].connection; }

  /// A frame has come for connection `n`.
  void receive(std::size_t n, std::span<const std::uint8_t> frame, Time now);
  /// At each step of time: serves what has come and timers. `all`: applications have written, too.
  void poll(Time now, bool all = false);
  /// The next frame of a connection, whose number it gives; -1: none has one, or may now. Frames of
  /// connections that are held are not made. What acknowledges goes first.
  int next(std::vector<std::uint8_t>& frame, Time now);
  /// Since when a connection has had something to send without a pause.
  Time ready_since(std::size_t n) const { return places_[n].since; }
  void hold(std::size_t n, bool held) { places_[n].held = held; }

  std::uint64_t bad() const { return bad_; }
  /// Of the CPU that was busy longest.
  Time most_busy() const;
  Time busy_until() const;

 private:
  static constexpr Time kTick = 500 * kNanosecond;  // between looks at timers
  static constexpr std::uint32_t kTurn = 65536;     // bytes of a connection in a row

  struct Cpu {
    Time until = 0, busy = 0;
    void work(Time from, Time time) {
      until = std::max(until, from) + time;
      busy += time;
    }
  };
  struct Arrived {
    std::size_t connection;
    Time at;
    std::vector<std::uint8_t> frame;
  };
  struct Place {
    explicit Place(const ConnectionConfig& config) : connection(config) {}
    Connection connection;
    bool ready = false, held = false;
    Time since = 0;
    std::uint32_t turn = 0, burst = 0;  // bytes sent in its turn, and as one packet
  };

  Time cost(std::size_t payload, bool begins) const {
    return (begins ? config_.per_segment : 0) + config_.per_kb * static_cast<Time>(payload) / 1000;
  }
  void look(std::size_t n, Time now);
  void serve(std::size_t cpu, Time now);

  StationConfig config_;
  std::vector<Place> places_;
  std::vector<Cpu> cpus_;
  std::vector<std::deque<Arrived>> work_;  // of each CPU
  std::size_t waiting_ = 0;                // frames in work_
  std::deque<std::size_t> ready_;
  Time next_tick_ = 0;
  std::uint64_t bad_ = 0;
};

}  // namespace emery::tcp

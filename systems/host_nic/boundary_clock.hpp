// SPDX-License-Identifier: Apache-2.0
// A model of a switch with two ports that is a boundary clock (IEEE 1588-2019, 9.2): its first port
// is a slave of whoever is there, its second one a master in the switch's own time.
//
// Approximation: not hardware but a model. It stores a frame and sends it on `residence` after its
// last bit, PTP messages of its own before all that waits, in a buffer of kBuffer bytes a port;
// what finds no room is dropped and counted. Its clock is a crystal's with a rate on top, exact but
// for that; it stamps with the whole steps of `stamp` ns, at the line; its messages are answered
// after `residence` too. Servo and messages are those of the driver core (sw/lib/host_nic/ptp.c).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "bench/sim/oscillator.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/json.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/wire/mac_port.hpp"
#include "systems/host_nic/ptp_settings.hpp"

namespace emery::host_nic {

class BoundaryClock {
 public:
  static constexpr std::size_t kBuffer = 1 << 20;

  BoundaryClock(const PtpSettings& settings, Oscillator& crystal, Simulation& simulation,
                double rate);
  BoundaryClock(const BoundaryClock&) = delete;

  /// What is at the far end of port 0 or 1.
  void connect(unsigned port, MacPort& nic);
  /// Begins to send.
  void start();
  /// Frames dropped on their way from a port.
  std::uint64_t dropped(unsigned from) const { return port_[from].dropped; }
  void write(JsonWriter& json) const;

 private:
  struct Port final : FrameSource {
    BoundaryClock* clock = nullptr;
    Ring<Frame> own, passing;
    std::size_t bytes = 0;  // in `passing`
    std::uint64_t dropped = 0, count = 0;
    ptp_port ptp{};
    bool next(Frame& frame) override;
  };

  void came(unsigned port, std::span<const std::uint8_t> bytes, Time arrived);
  void begins(unsigned port, const Frame& frame, Time started);
  void tick();
  void adjust(std::int64_t rate);
  /// Brings the clock to this time; times may be a little apart from the simulation's.
  std::uint64_t stamp(Time at);
  void go_to(Time at);

  PtpSettings settings_;
  Oscillator& crystal_;
  Simulation& simulation_;
  double line_;
  std::array<Port, 2> port_;
  // Its time less the simulation's: ps * 2^-40.
  __int128 ahead_ = 0;
  std::int64_t rate_ = 0;  // on top of the crystal's, 2^-40
  Time at_ = 0;
};

}  // namespace emery::host_nic

// SPDX-License-Identifier: Apache-2.0
// A host-nic in its host, with a PTP port of the driver core on it: one end of a run with `ptp`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "Vhost_nic.h"
#include "bench/run/pcie_host.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/oscillator.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac_port.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/ptp_settings.hpp"

namespace emery::host_nic {

class PtpCard final : public Component {
 public:
  /// Its clocks are its crystal's but for the receive one, which is that of the line.
  PtpCard(unsigned number, const Options& options, const PtpSettings& settings,
          const DriverConfig& driver, VerilatedModel<Vhost_nic>& models, Simulation& simulation,
          int line_clock);

  /// Finds the device and opens it. Advances simulated time.
  void open();
  /// Begins to exchange messages.
  void begin() { running_ = true; }
  void sample(Time now) override;
  void drive() override {}

  /// Handed a frame to send: false when there is no room.
  bool send(unsigned queue, const Frame& frame) { return driver.transmit(0, queue, frame.bytes()); }
  unsigned queues() const { return driver.tx_queues() - 1; }  // the last one is for PTP
  void write(JsonWriter& json) const;

  Oscillator crystal;
  HostMemory memory;
  PcieHost host;
  Driver driver;
  MacPort port;
  ptp_port ptp{};
  /// A received frame that is not of PTP; at each clock; the output of the clock has risen.
  std::function<void(const Received&, Time)> on_frame;
  std::function<void(Time)> on_clock, on_rise;

 private:
  void stamped(bool error, std::uint64_t stamp);
  /// A stamp of 40 bits in full.
  std::uint64_t whole(std::uint64_t stamp);

  Vhost_nic& model_;
  Ring<char> sent_;  // frames of PTP without a completion: whether they are event messages
  std::uint64_t last_ = 0;
  bool open_ = false, running_ = false, high_ = false;
};

}  // namespace emery::host_nic

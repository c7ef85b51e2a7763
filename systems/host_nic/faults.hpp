// SPDX-License-Identifier: Apache-2.0
// What is to go wrong in a run: a driver that breaks the rules, a host that does not answer, a bad
// wire. Made by the driver's raw hooks, the root complex and the MACs, so that what is tested is
// the device's answer, from end to end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/pcie/host_fault.hpp"
#include "bench/pcie/register_list.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/mac.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

// The fault named by the option `fault`. It strikes once, at the frame numbered `fault_frame`.
class Faults {
 public:
  // Throws OptionError when the run has no frames for the fault to strike.
  Faults(const Options& options, const DriverConfig& driver);

  // Told of a fault of the line of port 0 of interface 0: it takes nothing until then.
  std::function<void(Time until)> on_pause;

  // A frame of interface 0 has been put into a transmit ring; its doorbell has not been rung.
  void transmitted(Driver& driver, RootComplex& root, unsigned queue, Time now);
  // A frame of interface 0 has arrived in this queue.
  void received(Driver& driver, RootComplex& root, unsigned queue, Time now);
  // Once each clock of traffic.
  void clock(RootComplex& root);

  // Traffic on interface 0 alone: the others are what is harmed.
  bool first_interface_only() const { return kind_ == Kind::kHostileRegisters; }
  // The clock is the whole card's: who may write registers may set it.
  bool moves_clock() const { return kind_ == Kind::kHostileRegisters; }

  // How long the device may have nothing to show for itself because of the fault.
  Time pause() const { return pause_; }
  // What was done to whom, for the result.
  void write(JsonWriter& json) const;

 private:
  enum class Kind {
    kNone,
    kDoorbell,            // past the ring
    kNullAddress,         // in a transmit descriptor
    kWildAddress,         // in a transmit descriptor: memory that is not there
    kLostCompletion,      // of a read of transmit data
    kLateCompletion,      // likewise, after it was given up
    kPoisonedCompletion,  // likewise
    kLostDescriptor,      // the read of a transmit descriptor gets no completion
    kRxNullAddress,       // in a receive descriptor, up to 256 frames (or half a ring) later
    kSlowHost,            // the root complex neither accepts nor answers for a while
    kLostRxDescriptor,    // the read of a receive descriptor, as far on, gets no completion
    kPausedPort,          // the line of the first port takes no frame for a while
    kSlowCpu,             // the CPU of that receive queue does nothing for a while
    kHostileRegisters     // from then on all registers but those others live by get any value
  };
  bool strikes_received() const;  // frames, and those alone
  bool may_harm(std::string_view name, const std::uint32_t* index) const;

  HostFault plan_;
  Kind kind_ = Kind::kNone;
  unsigned tx_ring_, rx_ring_, max_frame_, queue_ = 0;
  unsigned tx_queues_, rx_queues_, event_queues_;  // of interface 0, that the driver has opened
  HostileWriter hostile_;
  unsigned clocks_ = 0;
  bool steers_;  // flows of port 0 of interface 0 are steered
  Time lasts_, pause_ = 0;
  std::uint64_t restart_every_, sent_ = 0, arrived_ = 0;  // of interface 0; 0: no restarts
};

// The options bad_fcs_every, runt_every and oversize_every.
void set_wire_faults(const Options& options, std::uint32_t max_frame, MacConfig& mac);

}  // namespace emery::host_nic

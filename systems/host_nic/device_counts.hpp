// SPDX-License-Identifier: Apache-2.0
// What the device itself has counted, read at the end of a run.
#pragma once

#include <cstdint>

#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/nic_core/levels.hpp"

namespace emery::host_nic {

class DeviceCounts {
 public:
  /// Takes simulated time.
  void read(Driver& driver, bool pushes) {
    const auto counted = [&](emnic_counter counter, unsigned interface = 0) {
      return emnic_get_counter(driver.core(), counter, interface, 0);
    };
    settings_refused_ = driver.settings_refused();
    for (unsigned i = 0; pushes && i < emnic_interfaces(driver.core()); ++i) {
      pushed_ += counted(EMNIC_INTERFACE_tx_pushed, i);
      push_dropped_ += counted(EMNIC_INTERFACE_tx_push_dropped, i);
    }
    for (unsigned i = 0; i < emnic_interfaces(driver.core()); ++i) {
      const emnic_interface& is = driver.interface(i);
      for (unsigned port = 0; (is.features & EMNIC_COALESCE) && port < is.ports; ++port)
        joined_ += emnic_get_counter(driver.core(), EMNIC_PORT_rx_joined, i, port);
    }
    timeouts_ = counted(EMNIC_DEVICE_dma_timeouts);
    errors_ = counted(EMNIC_DEVICE_dma_errors);
    late_ = counted(EMNIC_DEVICE_dma_late);
    unexpected_ = counted(EMNIC_DEVICE_dma_unexpected);
  }

  /// What the device still holds at `until`, though nothing is under way.
  static Findings levels(Driver& driver, Simulation& simulation, Time until) {
    return nic::levels(simulation, until, [&](Findings& held) { driver.find_levels(held); });
  }

  std::uint64_t settings_refused() const { return settings_refused_; }
  void write_dma(JsonWriter& json) const {
    json.object("dma_read")
        .field("timeouts", timeouts_)
        .field("errors", errors_)
        .field("late", late_)
        .field("unexpected", unexpected_)
        .end_object();
  }
  void write_pushes(JsonWriter& json) const {
    json.object("tx_push").field("taken", pushed_).field("in_vain", push_dropped_).end_object();
    json.field("segments_joined", joined_);
  }

 private:
  std::uint64_t timeouts_ = 0, errors_ = 0, late_ = 0, unexpected_ = 0;
  std::uint64_t settings_refused_ = 0, pushed_ = 0, push_dropped_ = 0, joined_ = 0;
};

}  // namespace emery::host_nic

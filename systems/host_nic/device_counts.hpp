// SPDX-License-Identifier: Apache-2.0
// What the device itself has counted, read at the end of a run.
#pragma once

#include <cstdint>

#include "bench/stats/json.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

/// Why a port drops a frame that has come over the wire, and the counter that says how often.
struct DropReason {
  const char* name;
  emnic_counter counter;
};
inline constexpr DropReason kReceiveDrops[] = {{"bad_fcs", EMNIC_PORT_rx_bad_fcs},
                                               {"runt", EMNIC_PORT_rx_runt},
                                               {"oversize", EMNIC_PORT_rx_oversize},
                                               {"fifo_full", EMNIC_PORT_rx_fifo_full},
                                               {"buffer_full", EMNIC_PORT_rx_buffer_full},
                                               {"no_descriptor", EMNIC_PORT_rx_no_descriptor},
                                               {"queue_stopped", EMNIC_PORT_rx_queue_stopped},
                                               {"descriptor_error", EMNIC_PORT_rx_descriptor_error},
                                               {"dma_error", EMNIC_PORT_rx_dma_error},
                                               {"truncated", EMNIC_PORT_rx_truncated}};

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
    timeouts_ = counted(EMNIC_DEVICE_dma_timeouts);
    errors_ = counted(EMNIC_DEVICE_dma_errors);
    late_ = counted(EMNIC_DEVICE_dma_late);
    unexpected_ = counted(EMNIC_DEVICE_dma_unexpected);
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
  }

 private:
  std::uint64_t timeouts_ = 0, errors_ = 0, late_ = 0, unexpected_ = 0;
  std::uint64_t settings_refused_ = 0, pushed_ = 0, push_dropped_ = 0;
};

}  // namespace emery::host_nic

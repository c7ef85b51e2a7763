// SPDX-License-Identifier: Apache-2.0
// What the device still holds of what it was lent: tags, slots, packet RAM. Reads registers, which
// takes simulated time.
#pragma once

#include <string>

#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::nic {

inline void find_levels(emnic* core, Findings& findings) {
  const auto level = [&](emnic_counter counter, unsigned i, unsigned port,
                         const std::string& what) {
    findings.add(emnic_get_counter(core, counter, i, port), what);
  };
  level(EMNIC_DEVICE_dma_reads, 0, 0, "tags of DMA reads not back");
  for (unsigned i = 0; i < emnic_interfaces(core); ++i) {
    const std::string of = " of interface " + std::to_string(i);
    level(EMNIC_INTERFACE_tx_slots, i, 0, "transmit slots not back" + of);
    level(EMNIC_INTERFACE_rx_slots, i, 0, "receive slots not back" + of);
    for (unsigned p = 0; p < emnic_get_interface(core, i)->ports; ++p) {
      const std::string port = of + ", port " + std::to_string(p);
      level(EMNIC_PORT_tx_units, i, p, "units of the transmit packet RAM not back" + port);
      level(EMNIC_PORT_rx_units, i, p, "units of the receive packet RAM not back" + port);
    }
  }
}

/// What `find` finds of that at `until`, though nothing is under way; nothing as soon as it finds
/// nothing.
template <class Find>
Findings levels(Simulation& simulation, Time until, Find find) {
  for (;;) {
    Findings held;
    find(held);
    if (held.lines().empty()) return held;
    simulation.run_for(10 * kMicrosecond);
    if (simulation.now() >= until) return held;
  }
}

}  // namespace emery::nic

// SPDX-License-Identifier: Apache-2.0
// Ports of a model that has CMAC blocks at its pins (rtl/mac/cmac_pkg.sv): a clock each way of each
// port, and a Mac each way at it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"

namespace emery {

inline constexpr std::uint64_t kCmacHz = 322'265'625;

/// Number of the clock of each port, both ways, as the settings mac_tx_ppm and mac_rx_ppm say. One
/// clock for all pins of a frequency: any phase would do, they have the same.
struct CmacClocks {
  std::vector<int> tx, rx;

  template <class Model>
  static CmacClocks add(VerilatedModel<Model>& model, Simulation& simulation,
                        const Options& options, unsigned ports) {
    const auto tx_ppm = options.get<int>("mac_tx_ppm"), rx_ppm = options.get<int>("mac_rx_ppm");
    const auto rx_of = [&](unsigned port) { return port % 2 ? -rx_ppm : rx_ppm; };
    std::map<int, std::vector<std::uint8_t*>> pins;
    for (unsigned p = 0; p < ports; ++p) {
      pins[tx_ppm].push_back(&model->mac_tx_clk_i[p]);
      pins[rx_of(p)].push_back(&model->mac_rx_clk_i[p]);
    }
    std::map<int, int> clock;
    for (const auto& [ppm, all] : pins) {
      const std::string name = ppm == tx_ppm ? "mac" : ppm == rx_ppm ? "mac_rx" : "mac_rx_odd";
      const auto hz = kCmacHz * static_cast<std::uint64_t>(1'000'000 + ppm);
      clock[ppm] = model.add_clock(simulation, name, hz, 1'000'000, all);
    }
    CmacClocks found;
    for (unsigned p = 0; p < ports; ++p) {
      found.tx.push_back(clock[tx_ppm]);
      found.rx.push_back(clock[rx_of(p)]);
    }
    return found;
  }
};

/// A port.
struct CmacPort {
  Mac tx, rx;

  /// At the model's ports of the types cmac_in_t and cmac_out_t.
  template <class In, class Out>
  CmacPort(const MacConfig& config, In& in, Out& out)
      : tx(config, FramePins::cmac_tx(in, out), {}), rx(config, {}, FramePins::cmac_rx(in, out)) {}

  MacStats stats() const { return tx.stats() + rx.stats(); }
};

}  // namespace emery

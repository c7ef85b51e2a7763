// SPDX-License-Identifier: Apache-2.0
// Ports of a model that has CMAC blocks at its pins (rtl/mac/cmac_pkg.sv), or XGMII where its MACs
// are inside: a clock each way of each port, and a MacEnd each way at it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"
#include "bench/wire/xgmii.hpp"

namespace emery {

/// Of a port of that speed: a CMAC's at 100 Gb/s, else of XGMII with 64 bits.
inline std::uint64_t mac_hz(unsigned gbps) {
  return gbps == 100 ? 322'265'625 : gbps * 15'625'000ull;
}

/// Number of the clock of each port, both ways, as the settings mac_tx_ppm and mac_rx_ppm say. One
/// clock for all pins of a frequency: any phase would do, they have the same.
struct MacClocks {
  std::vector<int> tx, rx;

  template <class Model>
  static MacClocks add(VerilatedModel<Model>& model, Simulation& simulation, const Options& options,
                       unsigned gbps, unsigned ports) {
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
      const auto hz = mac_hz(gbps) * static_cast<std::uint64_t>(1'000'000 + ppm);
      clock[ppm] = model.add_clock(simulation, name, hz, 1'000'000, all);
    }
    MacClocks found;
    for (unsigned p = 0; p < ports; ++p) {
      found.tx.push_back(clock[tx_ppm]);
      found.rx.push_back(clock[rx_of(p)]);
    }
    return found;
  }
};

/// A port.
class MacPort {
  std::unique_ptr<MacEnd> tx_end_, rx_end_;

 public:
  MacEnd &tx, &rx;

  /// The model's port of that number, of `gbps`: at mac_i and mac_o, of the types cmac_in_t and
  /// cmac_out_t, or at xgmii_i and xgmii_o.
  template <class Model>
  MacPort(const MacConfig& config, unsigned gbps, Model& model, unsigned number)
      : tx_end_(end(config, gbps, model, number, true)),
        rx_end_(end(config, gbps, model, number, false)),
        tx(*tx_end_),
        rx(*rx_end_) {
    if (gbps != 100) static_cast<XgmiiLine&>(tx).pauses_by(&static_cast<XgmiiLine&>(rx));
  }

  MacStats stats() const { return tx.stats() + rx.stats(); }

 private:
  template <class Model>
  static std::unique_ptr<MacEnd> end(const MacConfig& config, unsigned gbps, Model& model,
                                     unsigned n, bool tx) {
    auto& in = model.mac_i[n];
    auto& out = model.mac_o[n];
    if (gbps == 100)
      return tx ? std::make_unique<Mac>(config, FramePins::cmac_tx(in, out), FramePins{})
                : std::make_unique<Mac>(config, FramePins{}, FramePins::cmac_rx(in, out));
    const auto hz = static_cast<double>(mac_hz(gbps));
    const auto pins = tx ? XgmiiPins::of(model.xgmii_o[n], &out.EMERY_MEMBER(tx_reset))
                         : XgmiiPins::of(model.xgmii_i[n], &out.EMERY_MEMBER(rx_reset));
    return std::make_unique<XgmiiLine>(config, hz, tx ? pins : XgmiiPins{},
                                       tx ? XgmiiPins{} : pins);
  }
};

}  // namespace emery

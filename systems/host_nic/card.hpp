// SPDX-License-Identifier: Apache-2.0
// A card of one port and the slot that it is in, for drivers that are none of the bench's: those of
// guest machines and of programs in user space.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "Vhost_nic.h"
#include "bench/run/pcie_host.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/mac_port.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {

struct CardClocks {
  int core, mac;

  static CardClocks add(VerilatedModel<Vhost_nic>& model, Simulation& simulation, unsigned gbps,
                        unsigned cards) {
    std::vector<std::uint8_t*> core, mac;
    for (unsigned i = 0; i < cards; ++i) {
      core.push_back(&model[i].clk_i);
      mac.insert(mac.end(), {&model[i].mac_tx_clk_i[0], &model[i].mac_rx_clk_i[0]});
    }
    const int first = model.add_clock(simulation, "core", kCoreHz, 1, core);
    return {first, model.add_clock(simulation, "mac", mac_hz(gbps), 1, mac)};
  }
};

struct Card {
  // A locally administered station address, ff:fe in its middle, and the number of the card.
  static constexpr std::uint64_t kSerial = 0x0200'00ff'fe00'0000;

  HostMemory memory;
  PcieHost host;
  MacPort port;

  Card(const Options& options, const PcieSettings& slot, Simulation& simulation,
       const CardClocks& clocks, Vhost_nic& model, unsigned number)
      : host(slot, simulation, memory),
        port(
            [&] {
              MacConfig config;
              config.rate = line_rate(options);
              return config;
            }(),
            port_gbps(options), model, 0) {
    FunctionConfig config = function(options);
    config.serial = kSerial + number + 1;
    host.attach(clocks.core, config,
                EndpointPins::of(model.pcie_i, model.pcie_o,
                                 options.get<std::string>("pcie_interface"), 128));
    simulation.add(clocks.mac, port.tx);
    simulation.add(clocks.mac, port.rx);
  }

  /// Out of reset, with the slots enumerated.
  template <class Cards>
  static void start(VerilatedModel<Vhost_nic>& model, Simulation& simulation,
                    const Options& options, const Cards& cards) {
    std::vector<std::uint8_t*> resets;
    for (unsigned i = 0; i < cards.size(); ++i) {
      Vhost_nic& m = model[i];
      resets.insert(resets.end(), {&m.rst_i, &m.mac_tx_rst_i[0], &m.mac_rx_rst_i[0]});
    }
    model.reset(simulation, resets, 100 * kNanosecond);
    const auto queues =
        std::max(options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues"));
    simulation.run_for((queues + 64) * kCoreClock);  // queue managers clear their RAMs
    for (const auto& card : cards) card->host.root.enumerate();
  }

  void on_transmitted(MacEnd::OnTransmitted callback) {
    port.tx.on_transmitted(std::move(callback));
  }
  void set_source(FrameSource* source) { port.rx.set_source(source); }

  bool idle(Time now) const { return host.at_rest() && port.tx.tx_idle(now) && port.rx.rx_idle(); }
  // Changes with whatever moves.
  std::uint64_t activity() const {
    const RootStats& root = host.root.stats();
    const MacStats mac = port.stats();
    return root.writes + root.reads + root.interrupts + root.mmio_reads + root.mmio_writes +
           mac.tx_frames + mac.rx_frames;
  }

  void check(Findings& findings) const {
    host.check_rules(findings);
    findings.add(host.root.stats().wild_writes, "writes to memory that is not the machine's");
    port.stats().check(findings);
  }
  void write(JsonWriter& json) const {
    json.begin_object();
    host.write(json, "pcie_");
    json.key("mac");
    port.stats().write(json);
    json.end_object();
  }
};

}  // namespace emery::host_nic

// SPDX-License-Identifier: Apache-2.0
// The paper's machine: cards on a PCI-X bus, and the chipset with its memory.
#include <algorithm>
#include <array>
#include <utility>

#include "Vdirect_router.h"
#include "bench/pcix/bus.hpp"
#include "bench/pcix/host_bridge.hpp"
#include "systems/direct_router/machine.hpp"
#include "systems/direct_router/own_rings.hpp"

namespace emery::direct_router {
namespace {

HostBridgeConfig bridge_config(const Options& options) {
  HostBridgeConfig config;
  config.read_latency = options.ns("read_latency_ns");
  return config;
}

class PcixMachine final : public CardMachine<Vdirect_router> {
 public:
  PcixMachine(const Options& options, unsigned cards, Simulation& simulation, HostMemory& memory)
      : CardMachine(options, cards, simulation, options.get<std::uint64_t>("bus_hz_times_3"), 3),
        memory_(memory),
        bridge_(bridge_config(options), memory) {
    for (unsigned c = 0; c < cards; ++c) {
      Vdirect_router& m = model_[c];
      bus_.add_card({&m.req_n_o,    &m.frame_n_o, &m.irdy_n_o,    &m.master_oe_o, &m.devsel_n_o,
                     &m.trdy_n_o,   &m.stop_n_o,  &m.target_oe_o, &m.ad_o,        &m.cbe_n_o,
                     &m.ad_oe_o,    &m.gnt_n_i,   &m.idsel_i,     &m.frame_n_i,   &m.irdy_n_i,
                     &m.devsel_n_i, &m.trdy_n_i,  &m.stop_n_i,    &m.ad_i,        &m.cbe_n_i});
    }
    const bool flat = options.get<std::string>("arbiter") == "flat";
    bus_.add_agent(bridge_, flat ? PcixBus::Level::kRound : PcixBus::Level::kFirst);
    simulation.add(bus_clock_, bus_);
  }

  CpuPort& cpu() override { return bridge_; }
  bool slow_path() const override { return true; }
  std::unique_ptr<CardRings> make_rings(unsigned, const RingConfig& config) override {
    return std::make_unique<OwnRings>(config, bridge_, memory_);
  }
  void release() override { bus_.set_reset(false); }

  void on_write(OnWrite callback) override { bus_.on_write(std::move(callback)); }

  void mark(int end) override { at_[static_cast<std::size_t>(end)] = bus_.stats(); }
  void set_dead(unsigned card) override { bus_.set_dead(static_cast<int>(card), true); }
  void set_stalled(unsigned card, bool stalled) override {
    bus_.set_ungranted(static_cast<int>(card), stalled);
  }

  void write_summary(JsonWriter& json) const override {
    const auto& [from, to] = at_;
    const auto clocks = static_cast<double>(std::max<std::uint64_t>(to.clocks - from.clocks, 1));
    const auto share = [&](std::uint64_t n) { return static_cast<double>(n) / clocks; };
    json.field("bus_busy", share(to.busy_clocks - from.busy_clocks))
        .field("bus_data_share", share(to.words - from.words));
  }
  void write_details(JsonWriter& json) const override {
    json.key("bus");
    bus_.stats().write(json);
    json.key("bridge");
    bridge_.stats().write(json);
  }
  void check(Findings& findings) const override {
    findings.add(bus_.stats().violations, "PCI-X protocol errors: " + bus_.stats().first_violation);
    findings.add(bridge_.stats().unmapped_writes, "writes to memory that is not there");
    findings.add(bridge_.stats().unmapped_reads, "reads of memory that is not there");
  }

 private:
  HostMemory& memory_;
  HostBridge bridge_;
  PcixBus bus_;
  std::array<PcixBusStats, 2> at_;
};

}  // namespace

std::unique_ptr<Machine> Machine::make(const Options& options, unsigned cards,
                                       Simulation& simulation, HostMemory& memory) {
  return std::make_unique<PcixMachine>(options, cards, simulation, memory);
}

}  // namespace emery::direct_router

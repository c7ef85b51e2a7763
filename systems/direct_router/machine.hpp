// SPDX-License-Identifier: Apache-2.0
// What the cards are in, as the bench sees it: cards, the bus between them, the CPU's way to them.
// Which machine it is was decided when the simulator was linked (`make`).
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/dram/table_memory.hpp"
#include "bench/pcie/host_memory.hpp"
#include "bench/sim/cpu_port.hpp"
#include "bench/sim/member.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/mac.hpp"
#include "direct_router.h"
#include "systems/direct_router/card_rings.hpp"

namespace emery::direct_router {

class Machine {
 public:
  static std::unique_ptr<Machine> make(const Options& options, unsigned cards,
                                       Simulation& simulation, HostMemory& memory);
  virtual ~Machine() = default;

  virtual CpuPort& cpu() = 0;
  /// Whether frames can take the way through the host; then by these rings.
  virtual bool slow_path() const = 0;
  virtual std::unique_ptr<CardRings> make_rings(unsigned card, const RingConfig& config) = 0;
  /// BAR 0 of the cards: the size, and where that of the first goes.
  virtual std::uint64_t bar_base() const { return 0xe000'0000; }
  virtual std::uint64_t bar_bytes() const { return std::bit_ceil(sizeof(direct_router_t)); }
  /// Clocks of the bus side and of the MAC streams.
  virtual int bus_clock() const = 0;
  virtual int mac_clock() const = 0;
  virtual double bus_mhz() const = 0;

  virtual FramePins mac_tx(unsigned card) = 0;
  virtual FramePins mac_rx(unsigned card) = 0;
  /// The memory with a card's longest-prefix table; null where there is none.
  virtual TableMemory* table(unsigned card) = 0;
  const TableMemory* table(unsigned card) const { return const_cast<Machine*>(this)->table(card); }
  virtual void set_reset(unsigned card, bool reset) = 0;
  virtual void open_waves(const Waves& waves) = 0;
  /// Ties the cards to the simulation; call once all clocks' components are there.
  virtual void attach() = 0;
  /// The cards are out of reset.
  virtual void release() {}
  /// The host has found a card and given it its address.
  virtual void found(unsigned card) { static_cast<void>(card); }

  /// Is told of each word that a card writes, with the address of its write, when it is on the bus.
  using OnWrite = std::function<void(std::uint64_t address, std::uint64_t word, Time now)>;
  virtual void on_write(OnWrite callback) = 0;

  /// Traffic begins (0) or ends (1): what `write_summary` is about.
  virtual void mark(int end) = 0;
  /// The card vanishes; it gets no turn on the bus while it is stalled.
  virtual void set_dead(unsigned card) = 0;
  virtual void set_stalled(unsigned card, bool stalled) = 0;
  /// Its slot is in reset, and its link lost. PCI Express only, like the next ones.
  virtual void hold(unsigned card, bool held) { static_cast<void>(card), static_cast<void>(held); }
  /// Memory has no answer to give to a read of the card any more.
  virtual bool answered(unsigned card) const { return static_cast<void>(card), true; }
  /// The host resets its function; it has not done that yet.
  virtual void reset_function(unsigned card) { static_cast<void>(card); }
  virtual bool resets_function(unsigned card) const { return static_cast<void>(card), false; }
  /// What a card sends anywhere from now on is not the machine's fault.
  virtual void distrust(unsigned card) { static_cast<void>(card); }

  /// Fields of the object that is open.
  virtual void write_summary(JsonWriter& json) const = 0;
  virtual void write_details(JsonWriter& json) const = 0;
  virtual void check(Findings& findings) const = 0;
  /// Packets, credits and tags are back where they were at the start; `check` says which are not.
  virtual bool at_rest() const { return true; }
};

/// The part that is the same for every top: model, clocks, resets, MAC pins.
template <class Model>
class CardMachine : public Machine {
 public:
  CardMachine(const Options& options, unsigned cards, Simulation& simulation, std::uint64_t bus_hz,
              std::uint64_t divisor)
      : simulation_(simulation),
        cards_(cards),
        bus_mhz_(static_cast<double>(bus_hz) / static_cast<double>(divisor) / 1e6),
        model_("card", cards) {
    std::vector<std::uint8_t*> bus_pins, mac_pins;
    for (unsigned c = 0; c < cards; ++c) {
      bus_pins.push_back(&model_[c].clk_i);
      mac_pins.push_back(&model_[c].mac_clk_i);
    }
    bus_clock_ = model_.add_clock(simulation, "core", bus_hz, divisor, bus_pins);
    mac_clock_ = model_.add_clock(simulation, "mac", 125'000'000, 1, mac_pins);
    const auto period = static_cast<Time>(1e6 / bus_mhz_);
    const Time latency = options.ns("fib_latency_ns");
    for (unsigned c = 0; c < cards && options.get<unsigned>("fib_nodes") != 0; ++c) {
      const auto& out = model_[c].table_o;
      auto& in = model_[c].table_i;
      const TableMemoryPins pins{&out.EMERY_MEMBER(valid), &out.EMERY_MEMBER(write),
                                 &out.EMERY_MEMBER(addr),  &out.EMERY_MEMBER(wdata),
                                 &in.EMERY_MEMBER(ready),  &in.EMERY_MEMBER(rvalid),
                                 &in.EMERY_MEMBER(rdata)};
      tables_.push_back(std::make_unique<TableMemory>(pins, latency, period));
      simulation.add(bus_clock_, *tables_.back());
    }
  }

  int bus_clock() const override { return bus_clock_; }
  int mac_clock() const override { return mac_clock_; }
  double bus_mhz() const override { return bus_mhz_; }

  FramePins mac_tx(unsigned card) override {
    return pins(card, model_[card].mac_tx_o, &model_[card].mac_tx_ready_i);
  }
  FramePins mac_rx(unsigned card) override { return pins(card, model_[card].mac_rx_i, nullptr); }
  TableMemory* table(unsigned card) override {
    return tables_.empty() ? nullptr : tables_[card].get();
  }
  void set_reset(unsigned card, bool reset) override {
    model_[card].rst_i = model_[card].mac_rst_i = reset;
  }
  void open_waves(const Waves& waves) override { model_.open_waves(waves); }
  void attach() override { model_.attach(simulation_); }

 protected:
  Simulation& simulation_;
  unsigned cards_;
  double bus_mhz_;
  VerilatedModel<Model> model_;
  std::vector<std::unique_ptr<TableMemory>> tables_;
  int bus_clock_ = 0, mac_clock_ = 0;

 private:
  // Of the type byte_pins_t.
  template <class Pins>
  FramePins pins(unsigned card, Pins& mac, std::uint8_t* ready) {
    FramePins found{&mac.EMERY_MEMBER(valid), ready,
                    &mac.EMERY_MEMBER(data),  nullptr,
                    &mac.EMERY_MEMBER(sop),   &mac.EMERY_MEMBER(eop),
                    &mac.EMERY_MEMBER(err)};
    if constexpr (requires { model_[card].mac_rst_o; }) found.reset = &model_[card].mac_rst_o;
    return found;
  }
};

}  // namespace emery::direct_router

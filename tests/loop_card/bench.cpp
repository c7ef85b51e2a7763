// SPDX-License-Identifier: Apache-2.0
// loop-card on the bench: frames go over a wire to the card and come back over it.
#include "Vloop_card.h"
#include "bench/run/main.hpp"
#include "bench/run/run.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"

namespace emery {
namespace {

constexpr double kLineRate = 1e9;
constexpr std::uint32_t kLongest = 9014;  // without FCS

class Bench final : public Run {
 public:
  explicit Bench(const Options& options)
      : Run(options, kMicrosecond, 100 * kMicrosecond),
        model_("loop_card"),
        clock_(model_.add_clock(simulation_, "core", 125'000'000, 1, model_->clk_i)),
        mac_({.rate = kLineRate, .clock_hz = 125e6}, to_mac(*model_), from_mac(*model_)) {
    model_.open_waves(waves());
    simulation_.add(clock_, mac_);
    const Workload workload(options, {kLineRate, kLongest, "the wire takes"}, 1);
    mac_.set_source(&add_source(*workload.port(0), [this] { return mac_.rx_idle(); }));
    const int stream = score_.stream("loop");
    Output* const output = add_output("wire0.pcap");
    mac_.on_receiving([this, stream](const Frame& frame, WireFault, Time started, Time) {
      offer(stream, frame.bytes(), frame.flow, started);
    });
    mac_.on_transmitted([this, stream, output](std::span<const std::uint8_t> bytes, Time arrived) {
      deliver(stream, bytes, arrived, output);
    });
  }

 private:
  static FramePins to_mac(Vloop_card& m) {
    return {&m.mac_tx_valid_o, &m.mac_tx_ready_i, &m.mac_tx_data_o, nullptr,
            &m.mac_tx_sop_o,   &m.mac_tx_eop_o,   &m.mac_tx_err_o};
  }
  static FramePins from_mac(Vloop_card& m) {
    return {&m.mac_rx_valid_i, nullptr,         &m.mac_rx_data_i, nullptr,
            &m.mac_rx_sop_i,   &m.mac_rx_eop_i, &m.mac_rx_err_i};
  }

  void open() override { model_.reset(simulation_, {&model_->rst_i}, 100 * kNanosecond); }
  void check(Findings& findings) const override { mac_.stats().check(findings); }
  void report(JsonWriter& json) const override {
    json.key("wire");
    mac_.stats().write(json);
  }

  VerilatedModel<Vloop_card> model_;
  int clock_;
  ByteMac mac_;
};

}  // namespace
}  // namespace emery

int main(int argc, char** argv) { return emery::run_simulator<emery::Bench>(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
// The card whoever drives it: where its registers lie, its clocks, its wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "Vcapture.h"
#include "bench/run/workload.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"
#include "capture.h"

namespace emery::capture {

/// Where a register of cap_regs_t lies.
constexpr std::uint32_t device_register(std::size_t offset) {
  return static_cast<std::uint32_t>(offsetof(capture_t, device) + offset);
}
#define EMERY_REG(name) device_register(offsetof(cap_regs_t, name))

constexpr std::uint64_t kCoreHz = 250'000'000;
constexpr double kLineRate = 100e9;
constexpr Time kReset = 100 * kNanosecond;

struct CardClocks {
  int core, mac;

  static CardClocks add(VerilatedModel<Vcapture>& model, Simulation& simulation) {
    const int first = model.add_clock(simulation, "core", kCoreHz, 1, model->clk_i);
    return {first, model.add_clock(simulation, "mac", 322'265'625, 1, model->mac_clk_i)};
  }
};

inline FramePins mac_rx(Vcapture& m) {
  return {&m.mac_rx_valid_i, nullptr,         m.mac_rx_data_i.data(), &m.mac_rx_len_i,
          &m.mac_rx_sop_i,   &m.mac_rx_eop_i, &m.mac_rx_err_i};
}

/// What the bench's wire carries.
inline Workload::Line line() {
  constexpr std::uint32_t kLongest = sizeof Frame::data;
  return {kLineRate, kLongest, "the " + std::to_string(kLongest) + " the bench's wire carries"};
}

}  // namespace emery::capture

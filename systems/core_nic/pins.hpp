// SPDX-License-Identifier: Apache-2.0
// The device's pins and clocks, as the bench's models have them.
#pragma once

#include "Vcore_nic.h"
#include "bench/dram/ddr.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"
#include "core_nic.h"
#include "systems/core_nic/measurement.hpp"

namespace emery::core_nic {

inline FramePins mac_tx(Vcore_nic& m) {
  return {&m.mac_tx_valid_o, &m.mac_tx_ready_i, &m.mac_tx_data_o, &m.mac_tx_len_o,
          &m.mac_tx_sop_o,   &m.mac_tx_eop_o,   &m.mac_tx_err_o,  &m.mac_rst_o};
}

inline FramePins mac_rx(Vcore_nic& m) {
  return {&m.mac_rx_valid_i, nullptr,         &m.mac_rx_data_i, &m.mac_rx_len_i,
          &m.mac_rx_sop_i,   &m.mac_rx_eop_i, &m.mac_rx_err_i,  &m.mac_rst_o};
}

inline DdrPins dram_pins(Vcore_nic& m) {
  return {&m.dram_cmd_o,      &m.dram_bank_o,      &m.dram_addr_o,
          &m.dram_dq_valid_o, m.dram_dq_o.data(),  &m.dram_dm_o,
          m.dram_dq_i.data(), dram_pkg::DramSlots, &m.mac_rst_o};
}

inline Clocks add_clocks(const Options& options, Simulation& simulation,
                         VerilatedModel<Vcore_nic>& model) {
  Clocks c(options);
  c.core = model.add_clock(simulation, "core", c.core_thirds * 1'000'000ull, 3, model->core_clk_i);
  c.mem = model.add_clock(simulation, "mem", c.mem_mhz * 1'000'000ull, dram_pkg::DramSlots,
                          model->mem_clk_i);
  return c;
}

}  // namespace emery::core_nic

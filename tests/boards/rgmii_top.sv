// SPDX-License-Identifier: Apache-2.0
/// rgmii behind the pins of an ECP5 (models of the vendor's cells), with what cocotb sees and drives by name.
module top (
    input  logic       rst_i  /*verilator public_flat_rw*/,
    input  logic       sink_clk  /*verilator public_flat_rw*/,
    input  logic       rgmii_rx_clk  /*verilator public_flat_rw*/,
    input  logic       rgmii_rx_ctl  /*verilator public_flat_rw*/,
    input  logic [3:0] rgmii_rx_data  /*verilator public_flat_rw*/,
    output logic       rgmii_tx_clk  /*verilator public_flat_rw*/,
    output logic       rgmii_tx_ctl  /*verilator public_flat_rw*/,
    output logic [3:0] rgmii_tx_data  /*verilator public_flat_rw*/,
    output logic       rx_valid  /*verilator public_flat_rw*/,
    output logic [7:0] rx_data  /*verilator public_flat_rw*/,
    output logic       rx_sop  /*verilator public_flat_rw*/,
    output logic       rx_eop  /*verilator public_flat_rw*/,
    output logic       rx_err  /*verilator public_flat_rw*/,
    input  logic       tx_valid  /*verilator public_flat_rw*/,
    output logic       tx_ready  /*verilator public_flat_rw*/,
    input  logic [7:0] tx_data  /*verilator public_flat_rw*/,
    input  logic       tx_sop  /*verilator public_flat_rw*/,
    input  logic       tx_eop  /*verilator public_flat_rw*/,
    input  logic       tx_err                                        /*verilator public_flat_rw*/
);
  logic [1:0] rx_ctl_pins, tx_ctl_pins;
  logic [1:0][3:0] rx_pins, tx_pins;
  eth_pkg::byte_beat_t rx;
  assign {rx_data, rx_sop, rx_eop, rx_err} = rx;
  ecp5_pads i_pads (
      .clk_i(rgmii_rx_clk),
      .rst_i,
      .rx_ctl_i(rgmii_rx_ctl),
      .rx_data_i(rgmii_rx_data),
      .tx_clk_o(rgmii_tx_clk),
      .tx_ctl_o(rgmii_tx_ctl),
      .tx_data_o(rgmii_tx_data),
      .rx_ctl_o(rx_ctl_pins),
      .rx_data_o(rx_pins),
      .tx_ctl_i(tx_ctl_pins),
      .tx_data_i(tx_pins)
  );
  rgmii dut (
      .clk_i(rgmii_rx_clk),
      .rst_i,
      .rx_ctl_i(rx_ctl_pins),
      .rx_data_i(rx_pins),
      .tx_ctl_o(tx_ctl_pins),
      .tx_data_o(tx_pins),
      .rx_valid_o(rx_valid),
      .rx_o(rx),
      .tx_valid_i(tx_valid),
      .tx_i('{data: tx_data, sop: tx_sop, eop: tx_eop, err: tx_err}),
      .tx_ready_o(tx_ready)
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "pins.svh"
/// host_nic at UltraScale+ pins: what it sends over the wire it receives.
module top
  import pcie_pkg::*;
  import usplus_pkg::*;
  import pins_pkg::*;
#(
    parameter int Interface = PinsUsPlus
) (
    `USPLUS_PORTS
    output logic unused_o
);
  `USPLUS_WIRES
  localparam int Ports = 2;
  pcie_pins_out_t all_out;
  assign pins_out = all_out.usplus;
  logic valid[Ports], sop[Ports], eop[Ports], err[Ports];
  logic [511:0] data[Ports];
  logic [  6:0] len [Ports];
  assign unused_o = 1'b0;
  host_nic #(
      .Ports(Ports),
      .PcieInterface(Interface),
      .TxQueues(4),
      .RxQueues(4)
  ) dut (
      .clk_i,
      .rst_i,
      .pcie_i('{ideal: '{default: '0}, usplus: pins_in}),
      .pcie_o(all_out),
      .mac_clk_i(clk_i),
      .mac_rst_i(rst_i),
      .mac_tx_valid_o(valid),
      .mac_tx_ready_i('{default: 1'b1}),
      .mac_tx_data_o(data),
      .mac_tx_len_o(len),
      .mac_tx_sop_o(sop),
      .mac_tx_eop_o(eop),
      .mac_tx_err_o(err),
      .mac_rx_valid_i(valid),
      .mac_rx_data_i(data),
      .mac_rx_len_i(len),
      .mac_rx_sop_i(sop),
      .mac_rx_eop_i(eop),
      .mac_rx_err_i(err)
  );
endmodule

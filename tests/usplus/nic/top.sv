// SPDX-License-Identifier: Apache-2.0
`include "pins.svh"
/// host_nic at the pins of a real hard block: what it sends over the wire it receives.
module top
  import pcie_pkg::*;
  import usplus_pkg::*;
  import pins_pkg::*;
  import cmac_pkg::*;
  import xgmii_pkg::*;
#(
    parameter int Interface = PinsUsPlus
) (
    `USPLUS_PORTS
    `PTILE_PORTS
    output logic unused_o
);
  `USPLUS_WIRES
  `PTILE_WIRES
  localparam int Ports = 2;
  logic clocks[Ports], resets[Ports];
  cmac_in_t  to_nic  [Ports];
  cmac_out_t from_nic[Ports];
  xgmii_pins_t no_line[Ports], unused_line[Ports];
  for (genvar p = 0; p < Ports; p++) begin : g_port
    assign clocks[p] = clk_i;
    assign resets[p] = rst_i;
    assign to_nic[p] = '{
            tx_tready: 1'b1,
            tx_ptp_tstamp_valid: 1'b0,
            tx_ptp_tstamp_tag: '0,
            tx_ptp_tstamp: '0,
            rx: from_nic[p].tx,
            rx_ptp_tstamp: from_nic[p].rx_systemtimer
        };
    assign no_line[p] = '{data: {8{Idle}}, ctl: '1};
  end
  logic unused_period;
  assign unused_o = 1'b0;
  host_nic #(
      .Ports(Ports),
      .PcieInterface(Interface),
      .TxQueues(4),
      .RxQueues(4)
  ) dut (
      .clk_i,
      .rst_i,
      .pcie_i(all_in),
      .pcie_o(all_out),
      .mac_tx_clk_i(clocks),
      .mac_tx_rst_i(resets),
      .mac_rx_clk_i(clocks),
      .mac_rx_rst_i(resets),
      .mac_i(to_nic),
      .mac_o(from_nic),
      .xgmii_i(no_line),
      .xgmii_o(unused_line),
      .ptp_out_o(unused_period)
  );
endmodule

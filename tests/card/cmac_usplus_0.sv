// SPDX-License-Identifier: Apache-2.0
`include "cmac_ports.svh"
/// A MAC's core, at the ports of cmac_ports.svh; its line is looped back, and aligned 255 clocks from the start.
module cmac_usplus_0 (
    `CMAC_PORTS
);
  logic [7:0] from_start = '0;
  assign gt_txusrclk2 = top.user_clk;
  assign gt_rxusrclk2 = top.user_clk;
  assign usr_tx_reset = sys_reset || core_tx_reset;
  assign usr_rx_reset = sys_reset || core_rx_reset;
  assign stat_rx_aligned = &from_start;
  always_ff @(posedge rx_clk) from_start <= from_start + 8'(ctl_rx_enable && !stat_rx_aligned);

  assign tx_axis_tready = ctl_tx_enable && !ctl_tx_send_rfi;
  assign rx_axis_tvalid = tx_axis_tvalid && tx_axis_tready;
  assign {rx_axis_tdata, rx_axis_tkeep, rx_axis_tlast, rx_axis_tuser} = {
    tx_axis_tdata, tx_axis_tkeep, tx_axis_tlast, tx_axis_tuser
  };
  assign rx_ptp_tstamp_out = ctl_rx_systemtimerin;
  assign {tx_ptp_tstamp_valid_out, tx_ptp_tstamp_tag_out, tx_ptp_tstamp_out} = '0;
  assign {gt_txp_out, gt_txn_out} = '0;
endmodule

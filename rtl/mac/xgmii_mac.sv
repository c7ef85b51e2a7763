// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// A 10G or 25G Ethernet MAC at XGMII of 64 bits (156.25 or 390.625 MHz), with the pins of a CMAC towards the logic (cmac_pkg).
///
/// Each way has its clock and its reset, at any phase and within some hundred ppm; what they tell each other (faults of the line, PAUSE,
/// priority flow control) crosses. xgmii_mac_tx and xgmii_mac_rx have the contracts. `loop_i` (in the receive clock): what is sent is what is received, and goes out too.
/// The counters of each way are registers in its clock (mac_counters).
module xgmii_mac
  import cmac_pkg::*;
  import xgmii_pkg::*;
#(
    parameter int LaneNs = 3
) (
    input logic tx_clk_i,
    input logic tx_rst_i,
    input logic rx_clk_i,
    input logic rx_rst_i,

    // In the transmit clock, and in the receive clock.
    input xgmii_tx_cfg_t tx_cfg_i,
    reg_if.slave tx_regs,
    output link_fault_t tx_fault_o,
    output logic [8:0] tx_paused_o,
    input xgmii_rx_cfg_t rx_cfg_i,
    input logic loop_i,
    reg_if.slave rx_regs,

    // The logic's side.
    input  cmac_out_t mac_i,
    output cmac_in_t  mac_o,

    // The line.
    input  xgmii_pins_t xgmii_i,
    output xgmii_pins_t xgmii_o
);
  link_fault_t fault;
  logic [8:0] paused, stop;
  xgmii_t sent, looped, received_q;
  logic tx_record_valid, rx_record_valid;
  mac_record_t tx_record, rx_record;

  sync_2ff #(
      .Width(11)
  ) i_obey (
      .clk_i(tx_clk_i),
      .d_i  ({fault, paused}),
      .q_o  ({tx_fault_o, tx_paused_o})
  );
  sync_2ff #(
      .Width(9)
  ) i_stop (
      .clk_i(tx_clk_i),
      .d_i  (mac_i.tx_pause_req),
      .q_o  (stop)
  );

  xgmii_mac_tx #(
      .LaneNs(LaneNs)
  ) i_tx (
      .clk_i(tx_clk_i),
      .rst_i(tx_rst_i),
      .cfg_i(tx_cfg_i),
      .fault_i(tx_fault_o),
      .paused_i(tx_paused_o),
      .stop_i(stop),
      .tx_i(mac_i.tx),
      .op_i(mac_i.tx_ptp_1588op),
      .tag_i(mac_i.tx_ptp_tag_field),
      .timer_i(mac_i.tx_systemtimer),
      .ready_o(mac_o.tx_tready),
      .stamp_valid_o(mac_o.tx_ptp_tstamp_valid),
      .stamp_tag_o(mac_o.tx_ptp_tstamp_tag),
      .stamp_o(mac_o.tx_ptp_tstamp),
      .xgmii_o(sent),
      .record_valid_o(tx_record_valid),
      .record_o(tx_record)
  );
  assign xgmii_o = '{data: sent.data, ctl: sent.ctl};
  mac_counters i_tx_counters (
      .clk_i(tx_clk_i),
      .rst_i(tx_rst_i),
      .record_valid_i(tx_record_valid),
      .record_i(tx_record),
      .regs(tx_regs)
  );

  xgmii_loop i_loop (
      .in_clk_i(tx_clk_i),
      .in_rst_i(tx_rst_i),
      .in_i(sent),
      .out_clk_i(rx_clk_i),
      .out_rst_i(rx_rst_i),
      .out_o(looped)
  );
  // The time goes with the words.
  cmac_time_t rx_timer_q;
  always_ff @(posedge rx_clk_i) begin
    received_q <= loop_i ? looped : '{data: xgmii_i.data, ctl: xgmii_i.ctl};
    rx_timer_q <= mac_i.rx_systemtimer;
  end
  xgmii_mac_rx #(
      .LaneNs(LaneNs)
  ) i_rx (
      .clk_i(rx_clk_i),
      .rst_i(rx_rst_i),
      .cfg_i(rx_cfg_i),
      .xgmii_i(received_q),
      .timer_i(rx_timer_q),
      .rx_o(mac_o.rx),
      .stamp_o(mac_o.rx_ptp_tstamp),
      .fault_o(fault),
      .paused_o(paused),
      .record_valid_o(rx_record_valid),
      .record_o(rx_record)
  );
  mac_counters i_rx_counters (
      .clk_i(rx_clk_i),
      .rst_i(rx_rst_i),
      .record_valid_i(rx_record_valid),
      .record_i(rx_record),
      .regs(rx_regs)
  );
  wire unused = &{1'b0, mac_i.tx_reset, mac_i.rx_reset};
endmodule

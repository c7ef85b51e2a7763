// SPDX-License-Identifier: Apache-2.0
/// A 100G MAC of an UltraScale+ device (AMD PG203) with its transceivers, as the IP cores `cmac_usplus_0` and `cmac_usplus_1` bring it: one for each QSFP, for
/// each is bound to its own place in the device.
///
/// Wiring, and how a link begins: the receive side is always on, the transmit side when the receive side is aligned, and tells a remote fault until then. What the core is set to stands in ip.tcl:
/// RS-FEC, time stamps. A side that the logic resets (`mac_i`) does not tell that as a reset of its own, which would reset the logic. PAUSE is sent when the logic asks for it; that of the far end is not obeyed (`mac_i` has nothing for it).
module cmac_block
  import cmac_pkg::*;
#(
    parameter int Number = 0  // which of them
) (
    input  logic       init_clk_i,  // 100 MHz, always there
    input  logic       init_rst_i,
    input  logic       refclk_p_i,
    input  logic       refclk_n_i,
    input  logic [3:0] rx_p_i,
    input  logic [3:0] rx_n_i,
    output logic [3:0] tx_p_o,
    output logic [3:0] tx_n_o,

    output logic tx_clk_o,
    output logic tx_rst_o,
    output logic rx_clk_o,
    output logic rx_rst_o,
    output cmac_in_t mac_o,
    input cmac_out_t mac_i,
    output logic aligned_o  // transmit clock
);
  localparam logic [15:0] Quanta = '1, Refresh = 16'h7fff;  // of a PAUSE, and how long before it is told again
  logic aligned, tx_down, rx_down;  // the block's side is in reset, whoever asked for it
  logic tx_asked_q = 1'b0, rx_asked_q = 1'b0;
  assign tx_rst_o = tx_down && !mac_i.tx_reset && !tx_asked_q;
  assign rx_rst_o = rx_down && !mac_i.rx_reset && !rx_asked_q;
  always_ff @(posedge tx_clk_o) tx_asked_q <= mac_i.tx_reset || (tx_asked_q && tx_down);
  always_ff @(posedge rx_clk_o) rx_asked_q <= mac_i.rx_reset || (rx_asked_q && rx_down);
  sync_2ff i_aligned (
      .clk_i(tx_clk_o),
      .d_i  (aligned),
      .q_o  (aligned_o)
  );
  `define EMERY_CMAC(core) \
  core i_block ( \
      .gt_ref_clk_p(refclk_p_i), \
      .gt_ref_clk_n(refclk_n_i), \
      .gt_rxp_in(rx_p_i), \
      .gt_rxn_in(rx_n_i), \
      .gt_txp_out(tx_p_o), \
      .gt_txn_out(tx_n_o), \
      .gt_loopback_in(12'd0), \
      .gtwiz_reset_tx_datapath(1'b0), \
      .gtwiz_reset_rx_datapath(1'b0), \
      .init_clk(init_clk_i), \
      .sys_reset(init_rst_i), \
      .drp_clk(init_clk_i), \
      .core_drp_reset(1'b0), \
      .drp_addr(10'd0), \
      .drp_di(16'd0), \
      .drp_en(1'b0), \
      .drp_we(1'b0), \
      .gt_txusrclk2(tx_clk_o), \
      .usr_tx_reset(tx_down), \
      .core_tx_reset(mac_i.tx_reset), \
      .gt_rxusrclk2(rx_clk_o), \
      .rx_clk(rx_clk_o), \
      .usr_rx_reset(rx_down), \
      .core_rx_reset(mac_i.rx_reset), \
      .tx_axis_tdata(mac_i.tx.tdata), \
      .tx_axis_tkeep(mac_i.tx.tkeep), \
      .tx_axis_tlast(mac_i.tx.tlast), \
      .tx_axis_tuser(mac_i.tx.tuser), \
      .tx_axis_tvalid(mac_i.tx.tvalid), \
      .tx_axis_tready(mac_o.tx_tready), \
      .tx_preamblein(56'd0), \
      .rx_axis_tdata(mac_o.rx.tdata), \
      .rx_axis_tkeep(mac_o.rx.tkeep), \
      .rx_axis_tlast(mac_o.rx.tlast), \
      .rx_axis_tuser(mac_o.rx.tuser), \
      .rx_axis_tvalid(mac_o.rx.tvalid), \
      .ctl_tx_systemtimerin(mac_i.tx_systemtimer), \
      .tx_ptp_1588op_in(mac_i.tx_ptp_1588op), \
      .tx_ptp_tag_field_in(mac_i.tx_ptp_tag_field), \
      .tx_ptp_tstamp_valid_out(mac_o.tx_ptp_tstamp_valid), \
      .tx_ptp_tstamp_tag_out(mac_o.tx_ptp_tstamp_tag), \
      .tx_ptp_tstamp_out(mac_o.tx_ptp_tstamp), \
      .ctl_rx_systemtimerin(mac_i.rx_systemtimer), \
      .rx_ptp_tstamp_out(mac_o.rx_ptp_tstamp), \
      .ctl_tx_enable(aligned_o), \
      .ctl_tx_send_rfi(!aligned_o), \
      .ctl_tx_send_lfi(1'b0), \
      .ctl_tx_send_idle(1'b0), \
      .ctl_tx_test_pattern(1'b0), \
      .ctl_tx_pause_enable('1), \
      .ctl_tx_pause_req(mac_i.tx_pause_req), \
      .ctl_tx_resend_pause(1'b0), \
      .ctl_tx_pause_quanta0(Quanta), \
      .ctl_tx_pause_quanta1(Quanta), \
      .ctl_tx_pause_quanta2(Quanta), \
      .ctl_tx_pause_quanta3(Quanta), \
      .ctl_tx_pause_quanta4(Quanta), \
      .ctl_tx_pause_quanta5(Quanta), \
      .ctl_tx_pause_quanta6(Quanta), \
      .ctl_tx_pause_quanta7(Quanta), \
      .ctl_tx_pause_quanta8(Quanta), \
      .ctl_tx_pause_refresh_timer0(Refresh), \
      .ctl_tx_pause_refresh_timer1(Refresh), \
      .ctl_tx_pause_refresh_timer2(Refresh), \
      .ctl_tx_pause_refresh_timer3(Refresh), \
      .ctl_tx_pause_refresh_timer4(Refresh), \
      .ctl_tx_pause_refresh_timer5(Refresh), \
      .ctl_tx_pause_refresh_timer6(Refresh), \
      .ctl_tx_pause_refresh_timer7(Refresh), \
      .ctl_tx_pause_refresh_timer8(Refresh), \
      .ctl_tx_rsfec_enable(1'b1), \
      .ctl_rx_rsfec_enable(1'b1), \
      .ctl_rsfec_ieee_error_indication_mode(1'b0), \
      .ctl_rx_rsfec_enable_correction(1'b1), \
      .ctl_rx_rsfec_enable_indication(1'b1), \
      .ctl_rx_enable(1'b1), \
      .ctl_rx_force_resync(1'b0), \
      .ctl_rx_test_pattern(1'b0), \
      .ctl_rx_enable_gcp(1'b0), \
      .ctl_rx_enable_gpp(1'b0), \
      .ctl_rx_enable_pcp(1'b0), \
      .ctl_rx_enable_ppp(1'b0), \
      .ctl_rx_pause_enable('0), \
      .ctl_rx_pause_ack('0), \
      .stat_rx_aligned(aligned) \
  );
  if (Number == 0) begin : g_0
    `EMERY_CMAC(cmac_usplus_0)
  end else begin : g_1
    `EMERY_CMAC(cmac_usplus_1)
  end
  `undef EMERY_CMAC
endmodule

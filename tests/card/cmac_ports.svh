// SPDX-License-Identifier: Apache-2.0
// The ports of a MAC's core as far as boards/ uses them (AMD PG203).
`ifndef EMERY_CMAC_PORTS_SVH
`define EMERY_CMAC_PORTS_SVH

`define CMAC_PORTS \
    input logic gt_ref_clk_p, \
    input logic gt_ref_clk_n, \
    input logic [3:0] gt_rxp_in, \
    input logic [3:0] gt_rxn_in, \
    output logic [3:0] gt_txp_out, \
    output logic [3:0] gt_txn_out, \
    input logic [11:0] gt_loopback_in, \
    input logic gtwiz_reset_tx_datapath, \
    input logic gtwiz_reset_rx_datapath, \
    input logic init_clk, \
    input logic sys_reset, \
    input logic drp_clk, \
    input logic core_drp_reset, \
    input logic [9:0] drp_addr, \
    input logic [15:0] drp_di, \
    input logic drp_en, \
    input logic drp_we, \
    output logic gt_txusrclk2, \
    output logic usr_tx_reset, \
    input logic core_tx_reset, \
    output logic gt_rxusrclk2, \
    input logic rx_clk, \
    output logic usr_rx_reset, \
    input logic core_rx_reset, \
    input logic [511:0] tx_axis_tdata, \
    input logic [63:0] tx_axis_tkeep, \
    input logic tx_axis_tlast, \
    input logic tx_axis_tuser, \
    input logic tx_axis_tvalid, \
    output logic tx_axis_tready, \
    input logic [55:0] tx_preamblein, \
    output logic [511:0] rx_axis_tdata, \
    output logic [63:0] rx_axis_tkeep, \
    output logic rx_axis_tlast, \
    output logic rx_axis_tuser, \
    output logic rx_axis_tvalid, \
    input logic [79:0] ctl_tx_systemtimerin, \
    input logic [1:0] tx_ptp_1588op_in, \
    input logic [15:0] tx_ptp_tag_field_in, \
    output logic tx_ptp_tstamp_valid_out, \
    output logic [15:0] tx_ptp_tstamp_tag_out, \
    output logic [79:0] tx_ptp_tstamp_out, \
    input logic [79:0] ctl_rx_systemtimerin, \
    output logic [79:0] rx_ptp_tstamp_out, \
    input logic ctl_tx_enable, \
    input logic ctl_tx_send_rfi, \
    input logic ctl_tx_send_lfi, \
    input logic ctl_tx_send_idle, \
    input logic ctl_tx_test_pattern, \
    input logic [8:0] ctl_tx_pause_enable, \
    input logic [8:0] ctl_tx_pause_req, \
    input logic ctl_tx_resend_pause, \
    input logic [15:0] ctl_tx_pause_quanta0, \
    input logic [15:0] ctl_tx_pause_quanta1, \
    input logic [15:0] ctl_tx_pause_quanta2, \
    input logic [15:0] ctl_tx_pause_quanta3, \
    input logic [15:0] ctl_tx_pause_quanta4, \
    input logic [15:0] ctl_tx_pause_quanta5, \
    input logic [15:0] ctl_tx_pause_quanta6, \
    input logic [15:0] ctl_tx_pause_quanta7, \
    input logic [15:0] ctl_tx_pause_quanta8, \
    input logic [15:0] ctl_tx_pause_refresh_timer0, \
    input logic [15:0] ctl_tx_pause_refresh_timer1, \
    input logic [15:0] ctl_tx_pause_refresh_timer2, \
    input logic [15:0] ctl_tx_pause_refresh_timer3, \
    input logic [15:0] ctl_tx_pause_refresh_timer4, \
    input logic [15:0] ctl_tx_pause_refresh_timer5, \
    input logic [15:0] ctl_tx_pause_refresh_timer6, \
    input logic [15:0] ctl_tx_pause_refresh_timer7, \
    input logic [15:0] ctl_tx_pause_refresh_timer8, \
    input logic ctl_tx_rsfec_enable, \
    input logic ctl_rx_rsfec_enable, \
    input logic ctl_rsfec_ieee_error_indication_mode, \
    input logic ctl_rx_rsfec_enable_correction, \
    input logic ctl_rx_rsfec_enable_indication, \
    input logic ctl_rx_enable, \
    input logic ctl_rx_force_resync, \
    input logic ctl_rx_test_pattern, \
    input logic ctl_rx_enable_gcp, \
    input logic ctl_rx_enable_gpp, \
    input logic ctl_rx_enable_pcp, \
    input logic ctl_rx_enable_ppp, \
    input logic [8:0] ctl_rx_pause_enable, \
    input logic [8:0] ctl_rx_pause_ack, \
    output logic stat_rx_aligned

`endif

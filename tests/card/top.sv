// SPDX-License-Identifier: Apache-2.0
`include "pins.svh"
/// A card with two QSFPs, whose cores' pins towards the logic are this module's (tests/usplus).
module top (
    `USPLUS_PORTS
    `PTILE_PORTS
    output logic unused_o
);
  logic rst_n = 1'b0;
  logic [2:0] led;
  logic [15:0] tx_p, tx_n;
  logic [1:0][3:0] qsfp_tx_p, qsfp_tx_n;
  logic [1:0] modsel_n, qsfp_rst_n, lpmode, refclk_rst;
  logic [1:0][1:0] fs;
  always_ff @(posedge user_clk) rst_n <= 1'b1;
  assign s_axis_rq_tdata = card.i_pcie.i_block.s_axis_rq_tdata;
  assign s_axis_rq_tkeep = card.i_pcie.i_block.s_axis_rq_tkeep;
  assign s_axis_rq_tuser = card.i_pcie.i_block.s_axis_rq_tuser;
  assign s_axis_rq_tlast = card.i_pcie.i_block.s_axis_rq_tlast;
  assign s_axis_rq_tvalid = card.i_pcie.i_block.s_axis_rq_tvalid;
  assign s_axis_cc_tdata = card.i_pcie.i_block.s_axis_cc_tdata;
  assign s_axis_cc_tkeep = card.i_pcie.i_block.s_axis_cc_tkeep;
  assign s_axis_cc_tuser = card.i_pcie.i_block.s_axis_cc_tuser;
  assign s_axis_cc_tlast = card.i_pcie.i_block.s_axis_cc_tlast;
  assign s_axis_cc_tvalid = card.i_pcie.i_block.s_axis_cc_tvalid;
  assign m_axis_rc_tready = card.i_pcie.i_block.m_axis_rc_tready;
  assign m_axis_cq_tready = card.i_pcie.i_block.m_axis_cq_tready;
  assign pcie_cq_np_req = card.i_pcie.i_block.pcie_cq_np_req;
  assign cfg_mgmt_addr = card.i_pcie.i_block.cfg_mgmt_addr;
  assign cfg_mgmt_function_number = card.i_pcie.i_block.cfg_mgmt_function_number;
  assign cfg_mgmt_write = card.i_pcie.i_block.cfg_mgmt_write;
  assign cfg_mgmt_write_data = card.i_pcie.i_block.cfg_mgmt_write_data;
  assign cfg_mgmt_byte_enable = card.i_pcie.i_block.cfg_mgmt_byte_enable;
  assign cfg_mgmt_read = card.i_pcie.i_block.cfg_mgmt_read;
  assign cfg_mgmt_debug_access = card.i_pcie.i_block.cfg_mgmt_debug_access;
  assign cfg_flr_done = card.i_pcie.i_block.cfg_flr_done;
  assign {tx_st_data, tx_st_hdr, tx_st_tlp_prfx, tx_st_sop, tx_st_eop, tx_st_valid, tx_st_err} = '0;
  assign {rx_st_ready, flr_completed_pf} = '0;
  assign unused_o = &{led, fs, qsfp_rst_n, !lpmode, !refclk_rst, modsel_n};
  au250 #(
      .TxQueues(4),
      .RxQueues(4)
  ) card (
      .clk300_p_i(user_clk),
      .clk300_n_i(!user_clk),
      .led_o(led),
      .pcie_refclk_p_i(user_clk),
      .pcie_refclk_n_i(!user_clk),
      .pcie_rst_ni(rst_n),
      .pcie_rx_p_i('0),
      .pcie_rx_n_i('1),
      .pcie_tx_p_o(tx_p),
      .pcie_tx_n_o(tx_n),
      .qsfp_refclk_p_i({2{user_clk}}),
      .qsfp_refclk_n_i({2{!user_clk}}),
      .qsfp_rx_p_i('0),
      .qsfp_rx_n_i('1),
      .qsfp_tx_p_o(qsfp_tx_p),
      .qsfp_tx_n_o(qsfp_tx_n),
      .qsfp_modsel_no(modsel_n),
      .qsfp_rst_no(qsfp_rst_n),
      .qsfp_lpmode_o(lpmode),
      .qsfp_refclk_rst_o(refclk_rst),
      .qsfp_fs_o(fs)
  );
endmodule

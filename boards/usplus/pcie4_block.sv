// SPDX-License-Identifier: Apache-2.0
/// The PCI Express block of an UltraScale+ device (AMD PG213), as the IP core `pcie4_uscale_plus_0` brings it: gen3 x16, 512 bits, straddling.
///
/// Wiring only; what the core is set to stands in ip.tcl. `clk_o` is the user clock, 250 MHz, `rst_o` its reset.
module pcie4_block
  import usplus_pkg::*;
(
    input  logic        refclk_p_i,
    input  logic        refclk_n_i,
    input  logic        rst_ni,      // of the slot
    input  logic [15:0] rx_p_i,
    input  logic [15:0] rx_n_i,
    output logic [15:0] tx_p_o,
    output logic [15:0] tx_n_o,

    output logic clk_o,
    output logic rst_o,
    output usplus_in_t pins_o,
    input usplus_out_t pins_i
);
  logic refclk, refclk_gt;
  logic [3:0] rq_tready, cc_tready, msix_enable, msix_mask;
  assign pins_o.rq_tready = rq_tready[0];
  assign pins_o.cc_tready = cc_tready[0];
  // The block is made without virtual functions.
  assign pins_o.cfg_vf_status = '0;
  assign pins_o.cfg_vf_flr_in_process = '0;
  assign pins_o.cfg_interrupt_msix_vf_enable = '0;
  assign pins_o.cfg_interrupt_msix_vf_mask = '0;
  assign pins_o.cfg_interrupt_msix_enable = msix_enable[0];
  assign pins_o.cfg_interrupt_msix_mask = msix_mask[0];
  IBUFDS_GTE4 #(
      .REFCLK_HROW_CK_SEL(2'b00)
  ) i_refclk (
      .I(refclk_p_i),
      .IB(refclk_n_i),
      .CEB(1'b0),
      .O(refclk_gt),
      .ODIV2(refclk)
  );
  pcie4_uscale_plus_0 i_block (
      .pci_exp_rxp(rx_p_i),
      .pci_exp_rxn(rx_n_i),
      .pci_exp_txp(tx_p_o),
      .pci_exp_txn(tx_n_o),
      .sys_clk(refclk),
      .sys_clk_gt(refclk_gt),
      .sys_reset(rst_ni),
      .user_clk(clk_o),
      .user_reset(rst_o),
      .user_lnk_up(pins_o.lnk_up),

      .s_axis_rq_tdata (pins_i.rq_tdata),
      .s_axis_rq_tkeep (pins_i.rq_tkeep),
      .s_axis_rq_tuser (pins_i.rq_tuser),
      .s_axis_rq_tlast (pins_i.rq_tlast),
      .s_axis_rq_tvalid(pins_i.rq_tvalid),
      .s_axis_rq_tready(rq_tready),
      .s_axis_cc_tdata (pins_i.cc_tdata),
      .s_axis_cc_tkeep (pins_i.cc_tkeep),
      .s_axis_cc_tuser (pins_i.cc_tuser),
      .s_axis_cc_tlast (pins_i.cc_tlast),
      .s_axis_cc_tvalid(pins_i.cc_tvalid),
      .s_axis_cc_tready(cc_tready),
      .m_axis_rc_tdata (pins_o.rc_tdata),
      .m_axis_rc_tkeep (),
      .m_axis_rc_tuser (pins_o.rc_tuser),
      .m_axis_rc_tlast (),
      .m_axis_rc_tvalid(pins_o.rc_tvalid),
      .m_axis_rc_tready(pins_i.rc_tready),
      .m_axis_cq_tdata (pins_o.cq_tdata),
      .m_axis_cq_tkeep (),
      .m_axis_cq_tuser (pins_o.cq_tuser),
      .m_axis_cq_tlast (),
      .m_axis_cq_tvalid(pins_o.cq_tvalid),
      .m_axis_cq_tready(pins_i.cq_tready),
      .pcie_cq_np_req  (pins_i.cq_np_req),
      .pcie_tfc_nph_av (pins_o.tfc_nph_av),

      .cfg_bus_number(pins_o.cfg_bus_number),
      .cfg_max_payload(pins_o.cfg_max_payload),
      .cfg_max_read_req(pins_o.cfg_max_read_req),
      .cfg_function_status(pins_o.cfg_function_status),
      .cfg_mgmt_addr(pins_i.cfg_mgmt_addr),
      .cfg_mgmt_function_number(8'd0),
      .cfg_mgmt_write(1'b0),
      .cfg_mgmt_write_data(32'd0),
      .cfg_mgmt_byte_enable(4'd0),
      .cfg_mgmt_read(pins_i.cfg_mgmt_read),
      .cfg_mgmt_read_data(pins_o.cfg_mgmt_read_data),
      .cfg_mgmt_read_write_done(pins_o.cfg_mgmt_read_write_done),
      .cfg_mgmt_debug_access(1'b0),
      .cfg_flr_in_process(pins_o.cfg_flr_in_process),
      .cfg_flr_done(pins_i.cfg_flr_done),
      .cfg_vf_flr_func_num(8'd0),
      .cfg_vf_flr_done(1'b0),

      // The interrupts' table and their messages are the logic's own.
      .cfg_interrupt_msix_enable(msix_enable),
      .cfg_interrupt_msix_mask(msix_mask),
      .cfg_interrupt_msix_address(64'd0),
      .cfg_interrupt_msix_data(32'd0),
      .cfg_interrupt_msix_int(1'b0),
      .cfg_interrupt_msix_vec_pending(2'd0),
      .cfg_interrupt_msi_function_number(8'd0),
      .cfg_interrupt_int(4'd0),
      .cfg_interrupt_pending(4'd0),

      .cfg_msg_transmit(1'b0),
      .cfg_msg_transmit_type(3'd0),
      .cfg_msg_transmit_data(32'd0),
      .cfg_fc_sel(3'd0),
      .cfg_dsn(64'd0),
      .cfg_power_state_change_ack(1'b1),
      .cfg_err_cor_in(1'b0),
      .cfg_err_uncor_in(1'b0),
      .cfg_link_training_enable(1'b1),
      .cfg_pm_aspm_l1_entry_reject(1'b0),
      .cfg_pm_aspm_tx_l0s_entry_disable(1'b0),
      .cfg_config_space_enable(1'b1),
      .cfg_req_pm_transition_l23_ready(1'b0),
      .cfg_hot_reset_in(1'b0),
      .cfg_ds_port_number(8'd0),
      .cfg_ds_bus_number(8'd0),
      .cfg_ds_device_number(5'd0)
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
/// The ports of the PCI Express block's core as far as boards/ uses them (AMD PG213). What it drives, cocotb drives at `top`.
module pcie4_uscale_plus_0 (
    input logic [15:0] pci_exp_rxp,
    input logic [15:0] pci_exp_rxn,
    output logic [15:0] pci_exp_txp,
    output logic [15:0] pci_exp_txn,
    input logic sys_clk,
    input logic sys_clk_gt,
    input logic sys_reset,
    output logic user_clk,
    output logic user_reset,
    output logic user_lnk_up,
    input logic [511:0] s_axis_rq_tdata,
    input logic [15:0] s_axis_rq_tkeep,
    input logic [136:0] s_axis_rq_tuser,
    input logic s_axis_rq_tlast,
    input logic s_axis_rq_tvalid,
    output logic [3:0] s_axis_rq_tready,
    input logic [511:0] s_axis_cc_tdata,
    input logic [15:0] s_axis_cc_tkeep,
    input logic [80:0] s_axis_cc_tuser,
    input logic s_axis_cc_tlast,
    input logic s_axis_cc_tvalid,
    output logic [3:0] s_axis_cc_tready,
    output logic [511:0] m_axis_rc_tdata,
    output logic [15:0] m_axis_rc_tkeep,
    output logic [160:0] m_axis_rc_tuser,
    output logic m_axis_rc_tlast,
    output logic m_axis_rc_tvalid,
    input logic m_axis_rc_tready,
    output logic [511:0] m_axis_cq_tdata,
    output logic [15:0] m_axis_cq_tkeep,
    output logic [182:0] m_axis_cq_tuser,
    output logic m_axis_cq_tlast,
    output logic m_axis_cq_tvalid,
    input logic m_axis_cq_tready,
    input logic [1:0] pcie_cq_np_req,
    output logic [3:0] pcie_tfc_nph_av,
    output logic [7:0] cfg_bus_number,
    output logic [1:0] cfg_max_payload,
    output logic [2:0] cfg_max_read_req,
    output logic [15:0] cfg_function_status,
    input logic [9:0] cfg_mgmt_addr,
    input logic [7:0] cfg_mgmt_function_number,
    input logic cfg_mgmt_write,
    input logic [31:0] cfg_mgmt_write_data,
    input logic [3:0] cfg_mgmt_byte_enable,
    input logic cfg_mgmt_read,
    output logic [31:0] cfg_mgmt_read_data,
    output logic cfg_mgmt_read_write_done,
    input logic cfg_mgmt_debug_access,
    output logic [3:0] cfg_flr_in_process,
    input logic [3:0] cfg_flr_done,
    input logic [7:0] cfg_vf_flr_func_num,
    input logic cfg_vf_flr_done,
    output logic [3:0] cfg_interrupt_msix_enable,
    output logic [3:0] cfg_interrupt_msix_mask,
    input logic [63:0] cfg_interrupt_msix_address,
    input logic [31:0] cfg_interrupt_msix_data,
    input logic cfg_interrupt_msix_int,
    input logic [1:0] cfg_interrupt_msix_vec_pending,
    input logic [7:0] cfg_interrupt_msi_function_number,
    input logic [3:0] cfg_interrupt_int,
    input logic [3:0] cfg_interrupt_pending,
    input logic cfg_msg_transmit,
    input logic [2:0] cfg_msg_transmit_type,
    input logic [31:0] cfg_msg_transmit_data,
    input logic [2:0] cfg_fc_sel,
    input logic [63:0] cfg_dsn,
    input logic cfg_power_state_change_ack,
    input logic cfg_err_cor_in,
    input logic cfg_err_uncor_in,
    input logic cfg_link_training_enable,
    input logic cfg_pm_aspm_l1_entry_reject,
    input logic cfg_pm_aspm_tx_l0s_entry_disable,
    input logic cfg_config_space_enable,
    input logic cfg_req_pm_transition_l23_ready,
    input logic cfg_hot_reset_in,
    input logic [7:0] cfg_ds_port_number,
    input logic [7:0] cfg_ds_bus_number,
    input logic [4:0] cfg_ds_device_number
);
  assign user_clk = top.user_clk;
  assign user_reset = top.user_reset;
  assign user_lnk_up = top.user_lnk_up;
  assign s_axis_rq_tready = {4{top.s_axis_rq_tready}};
  assign s_axis_cc_tready = {4{top.s_axis_cc_tready}};
  assign m_axis_rc_tdata = top.m_axis_rc_tdata;
  assign m_axis_rc_tkeep = top.m_axis_rc_tkeep;
  assign m_axis_rc_tuser = top.m_axis_rc_tuser;
  assign m_axis_rc_tlast = top.m_axis_rc_tlast;
  assign m_axis_rc_tvalid = top.m_axis_rc_tvalid;
  assign m_axis_cq_tdata = top.m_axis_cq_tdata;
  assign m_axis_cq_tkeep = top.m_axis_cq_tkeep;
  assign m_axis_cq_tuser = top.m_axis_cq_tuser;
  assign m_axis_cq_tlast = top.m_axis_cq_tlast;
  assign m_axis_cq_tvalid = top.m_axis_cq_tvalid;
  assign pcie_tfc_nph_av = top.pcie_tfc_nph_av;
  assign cfg_bus_number = top.cfg_bus_number;
  assign cfg_max_payload = top.cfg_max_payload;
  assign cfg_max_read_req = top.cfg_max_read_req;
  assign cfg_function_status = top.cfg_function_status;
  assign cfg_mgmt_read_data = top.cfg_mgmt_read_data;
  assign cfg_mgmt_read_write_done = top.cfg_mgmt_read_write_done;
  assign cfg_flr_in_process = top.cfg_flr_in_process;
  assign cfg_interrupt_msix_enable = top.cfg_interrupt_msix_enable;
  assign cfg_interrupt_msix_mask = top.cfg_interrupt_msix_mask;
  assign {pci_exp_txp, pci_exp_txn} = '0;
endmodule

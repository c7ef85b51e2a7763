// SPDX-License-Identifier: Apache-2.0
// The pins of an UltraScale+ PCI Express block, and those of an Intel P-tile, as ports of a top, under the blocks' names for them, for
// cocotb: a top has both, and is made for one (`Interface`).
`ifndef EMERY_USPLUS_PINS_SVH
`define EMERY_USPLUS_PINS_SVH

/// The ports.
`define USPLUS_PORTS \
    input logic user_clk /*verilator public_flat_rw*/, \
    input logic user_reset /*verilator public_flat_rw*/, \
    input logic user_lnk_up /*verilator public_flat_rw*/, \
    input logic sys_reset /*verilator public_flat_rw*/, \
    output logic [511:0] s_axis_rq_tdata /*verilator public_flat_rw*/, \
    output logic [ 15:0] s_axis_rq_tkeep /*verilator public_flat_rw*/, \
    output logic [136:0] s_axis_rq_tuser /*verilator public_flat_rw*/, \
    output logic s_axis_rq_tlast /*verilator public_flat_rw*/, \
    output logic s_axis_rq_tvalid /*verilator public_flat_rw*/, \
    input logic s_axis_rq_tready /*verilator public_flat_rw*/, \
    output logic [511:0] s_axis_cc_tdata /*verilator public_flat_rw*/, \
    output logic [ 15:0] s_axis_cc_tkeep /*verilator public_flat_rw*/, \
    output logic [ 80:0] s_axis_cc_tuser /*verilator public_flat_rw*/, \
    output logic s_axis_cc_tlast /*verilator public_flat_rw*/, \
    output logic s_axis_cc_tvalid /*verilator public_flat_rw*/, \
    input logic s_axis_cc_tready /*verilator public_flat_rw*/, \
    input logic [511:0] m_axis_rc_tdata /*verilator public_flat_rw*/, \
    input logic [ 15:0] m_axis_rc_tkeep /*verilator public_flat_rw*/, \
    input logic [160:0] m_axis_rc_tuser /*verilator public_flat_rw*/, \
    input logic m_axis_rc_tlast /*verilator public_flat_rw*/, \
    input logic m_axis_rc_tvalid /*verilator public_flat_rw*/, \
    output logic m_axis_rc_tready /*verilator public_flat_rw*/, \
    input logic [511:0] m_axis_cq_tdata /*verilator public_flat_rw*/, \
    input logic [ 15:0] m_axis_cq_tkeep /*verilator public_flat_rw*/, \
    input logic [182:0] m_axis_cq_tuser /*verilator public_flat_rw*/, \
    input logic m_axis_cq_tlast /*verilator public_flat_rw*/, \
    input logic m_axis_cq_tvalid /*verilator public_flat_rw*/, \
    output logic m_axis_cq_tready /*verilator public_flat_rw*/, \
    output logic [ 1:0] pcie_cq_np_req /*verilator public_flat_rw*/, \
    input logic [ 3:0] pcie_tfc_nph_av /*verilator public_flat_rw*/, \
    input logic [ 1:0] cfg_max_payload /*verilator public_flat_rw*/, \
    input logic [ 2:0] cfg_max_read_req /*verilator public_flat_rw*/, \
    input logic [ 15:0] cfg_function_status /*verilator public_flat_rw*/, \
    input logic [ 7:0] cfg_bus_number /*verilator public_flat_rw*/, \
    output logic [ 9:0] cfg_mgmt_addr /*verilator public_flat_rw*/, \
    output logic [ 7:0] cfg_mgmt_function_number /*verilator public_flat_rw*/, \
    output logic cfg_mgmt_write /*verilator public_flat_rw*/, \
    output logic [ 31:0] cfg_mgmt_write_data /*verilator public_flat_rw*/, \
    output logic [ 3:0] cfg_mgmt_byte_enable /*verilator public_flat_rw*/, \
    output logic cfg_mgmt_read /*verilator public_flat_rw*/, \
    input logic [ 31:0] cfg_mgmt_read_data /*verilator public_flat_rw*/, \
    input logic cfg_mgmt_read_write_done /*verilator public_flat_rw*/, \
    output logic cfg_mgmt_debug_access /*verilator public_flat_rw*/, \
    input logic [3:0] cfg_interrupt_msix_enable /*verilator public_flat_rw*/, \
    input logic [3:0] cfg_interrupt_msix_mask /*verilator public_flat_rw*/, \
    input logic [3:0] cfg_flr_in_process /*verilator public_flat_rw*/, \
    output logic [3:0] cfg_flr_done /*verilator public_flat_rw*/,

/// The other block's.
`define PTILE_PORTS \
    input logic coreclkout_hip /*verilator public_flat_rw*/, \
    input logic reset_status /*verilator public_flat_rw*/, \
    output logic [511:0] tx_st_data /*verilator public_flat_rw*/, \
    output logic [255:0] tx_st_hdr /*verilator public_flat_rw*/, \
    output logic [ 63:0] tx_st_tlp_prfx /*verilator public_flat_rw*/, \
    output logic [  1:0] tx_st_sop /*verilator public_flat_rw*/, \
    output logic [  1:0] tx_st_eop /*verilator public_flat_rw*/, \
    output logic [  1:0] tx_st_valid /*verilator public_flat_rw*/, \
    output logic [  1:0] tx_st_err /*verilator public_flat_rw*/, \
    input logic tx_st_ready /*verilator public_flat_rw*/, \
    input logic [511:0] rx_st_data /*verilator public_flat_rw*/, \
    input logic [255:0] rx_st_hdr /*verilator public_flat_rw*/, \
    input logic [ 63:0] rx_st_tlp_prfx /*verilator public_flat_rw*/, \
    input logic [  5:0] rx_st_empty /*verilator public_flat_rw*/, \
    input logic [  5:0] rx_st_bar_range /*verilator public_flat_rw*/, \
    input logic [  1:0] rx_st_tlp_abort /*verilator public_flat_rw*/, \
    input logic [  1:0] rx_st_sop /*verilator public_flat_rw*/, \
    input logic [  1:0] rx_st_eop /*verilator public_flat_rw*/, \
    input logic [  1:0] rx_st_valid /*verilator public_flat_rw*/, \
    output logic rx_st_ready /*verilator public_flat_rw*/, \
    input logic [ 15:0] tx_cdts_limit /*verilator public_flat_rw*/, \
    input logic [  2:0] tx_cdts_limit_tdm_idx /*verilator public_flat_rw*/, \
    input logic [  2:0] tl_cfg_func /*verilator public_flat_rw*/, \
    input logic [  4:0] tl_cfg_add /*verilator public_flat_rw*/, \
    input logic [ 15:0] tl_cfg_ctl /*verilator public_flat_rw*/, \
    input logic [  7:0] flr_rcvd_pf /*verilator public_flat_rw*/, \
    output logic [  7:0] flr_completed_pf /*verilator public_flat_rw*/,

/// What leads from them to all_in and from all_out.
`define PTILE_WIRES \
  pcie_pins_in_t all_in; \
  pcie_pins_out_t all_out; \
  assign pins_out = all_out.usplus; \
  assign all_in.ideal = '{default: '0}; \
  assign all_in.usplus = pins_in; \
  assign all_in.ptile = '{ \
          dl_up: !reset_status, \
          tx_st_ready: tx_st_ready, \
          rx_st_data: rx_st_data, \
          rx_st_hdr: rx_st_hdr, \
          rx_st_sop: rx_st_sop, \
          rx_st_eop: rx_st_eop, \
          rx_st_valid: rx_st_valid, \
          tx_cdts_limit: tx_cdts_limit, \
          tx_cdts_limit_tdm_idx: tx_cdts_limit_tdm_idx, \
          tl_cfg_add: tl_cfg_add, \
          tl_cfg_func: tl_cfg_func, \
          tl_cfg_ctl: tl_cfg_ctl, \
          wide_tag_en: 1'b0, \
          flr_rcvd_pf: flr_rcvd_pf \
      }; \
  assign tx_st_data = all_out.ptile.tx_st_data; \
  assign tx_st_hdr = all_out.ptile.tx_st_hdr; \
  assign tx_st_sop = all_out.ptile.tx_st_sop; \
  assign tx_st_eop = all_out.ptile.tx_st_eop; \
  assign tx_st_valid = all_out.ptile.tx_st_valid; \
  assign rx_st_ready = all_out.ptile.rx_st_ready; \
  assign flr_completed_pf = all_out.ptile.flr_completed_pf; \
  assign {tx_st_tlp_prfx, tx_st_err} = '0; \
  wire unused_ptile = &{1'b0, rx_st_tlp_prfx, rx_st_empty, rx_st_bar_range, rx_st_tlp_abort};

/// What leads from them to pins_in and from pins_out, clk_i and rst_i.
`define USPLUS_WIRES \
  wire clk_i = Interface == PinsPTile ? coreclkout_hip : user_clk; \
  wire rst_i = Interface == PinsPTile ? reset_status : user_reset; \
  usplus_in_t pins_in; \
  usplus_out_t pins_out; \
  assign pins_in = '{ \
          lnk_up: user_lnk_up, \
          rq_tready: s_axis_rq_tready, \
          cc_tready: s_axis_cc_tready, \
          rc_tdata: m_axis_rc_tdata, \
          rc_tuser: m_axis_rc_tuser, \
          rc_tvalid: m_axis_rc_tvalid, \
          cq_tdata: m_axis_cq_tdata, \
          cq_tuser: m_axis_cq_tuser, \
          cq_tvalid: m_axis_cq_tvalid, \
          tfc_nph_av: pcie_tfc_nph_av, \
          cfg_bus_number: cfg_bus_number, \
          cfg_max_payload: cfg_max_payload, \
          cfg_max_read_req: cfg_max_read_req, \
          cfg_function_status: cfg_function_status, \
          cfg_mgmt_read_data: cfg_mgmt_read_data, \
          cfg_mgmt_read_write_done: cfg_mgmt_read_write_done, \
          cfg_interrupt_msix_enable: cfg_interrupt_msix_enable[0], \
          cfg_interrupt_msix_mask: cfg_interrupt_msix_mask[0], \
          cfg_flr_in_process: cfg_flr_in_process, \
          cfg_vf_status: '0, \
          cfg_vf_flr_in_process: '0, \
          cfg_interrupt_msix_vf_enable: '0, \
          cfg_interrupt_msix_vf_mask: '0 \
      }; \
  assign s_axis_rq_tdata = pins_out.rq_tdata; \
  assign s_axis_rq_tkeep = pins_out.rq_tkeep; \
  assign s_axis_rq_tuser = pins_out.rq_tuser; \
  assign s_axis_rq_tlast = pins_out.rq_tlast; \
  assign s_axis_rq_tvalid = pins_out.rq_tvalid; \
  assign s_axis_cc_tdata = pins_out.cc_tdata; \
  assign s_axis_cc_tkeep = pins_out.cc_tkeep; \
  assign s_axis_cc_tuser = pins_out.cc_tuser; \
  assign s_axis_cc_tlast = pins_out.cc_tlast; \
  assign s_axis_cc_tvalid = pins_out.cc_tvalid; \
  assign m_axis_rc_tready = pins_out.rc_tready; \
  assign m_axis_cq_tready = pins_out.cq_tready; \
  assign pcie_cq_np_req = pins_out.cq_np_req; \
  assign cfg_mgmt_addr = pins_out.cfg_mgmt_addr; \
  assign cfg_mgmt_read = pins_out.cfg_mgmt_read; \
  assign cfg_flr_done = pins_out.cfg_flr_done; \
  assign {cfg_mgmt_function_number, cfg_mgmt_write, cfg_mgmt_write_data} = '0; \
  assign {cfg_mgmt_byte_enable, cfg_mgmt_debug_access} = '0; \
  wire unused_pins = &{1'b0, sys_reset, m_axis_rc_tkeep, m_axis_rc_tlast, m_axis_cq_tkeep, m_axis_cq_tlast};

`endif

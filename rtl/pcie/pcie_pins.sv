// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// What comes from the hard block's pins, as the logic behind them takes it: nothing inside hangs on the pins themselves.
///
/// Packets go through a spill register to `rx` (one beat a clock, latency 1 clock); configuration and credit limits are a
/// clock late, and not reset.
module pcie_pins
  import pcie_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    // TLPs from the hard block.
    input  logic         rx_tlp_valid_i,
    output logic         rx_tlp_ready_o,
    input  logic [511:0] rx_tlp_data_i,
    input  logic [127:0] rx_tlp_hdr_i,
    input  logic         rx_tlp_sop_i,
    input  logic         rx_tlp_eop_i,

    // Configuration space and transmit credit limits.
    input logic [15:0] cfg_requester_id_i,
    input logic [ 2:0] cfg_max_payload_i,
    input logic [ 2:0] cfg_max_read_request_i,
    input logic        cfg_bus_master_i,
    input logic        cfg_extended_tag_i,
    input logic        cfg_relaxed_ordering_i,
    input logic        cfg_msix_enable_i,
    input logic        cfg_msix_mask_i,
    input logic [ 7:0] fc_ph_i,
    input logic [11:0] fc_pd_i,
    input logic        fc_p_inf_i,
    input logic [ 7:0] fc_nph_i,
    input logic        fc_np_inf_i,
    input logic [ 7:0] fc_cplh_i,
    input logic [11:0] fc_cpld_i,
    input logic        fc_cpl_inf_i,

    // To the logic.
    output pcie_cfg_t    cfg_o,
    output fc_limit_t    fc_o,
           stream_if.src rx      // tlp_beat_t
);
  pcie_cfg_t cfg;
  fc_limit_t fc;
  assign cfg = '{
          requester_id: cfg_requester_id_i,
          max_payload: cfg_max_payload_i,
          max_read_request: cfg_max_read_request_i,
          bus_master: cfg_bus_master_i,
          extended_tag: cfg_extended_tag_i,
          relaxed_ordering: cfg_relaxed_ordering_i,
          msix_enable: cfg_msix_enable_i,
          msix_mask: cfg_msix_mask_i
      };
  assign fc = '{
          ph: fc_ph_i,
          pd: fc_pd_i,
          p_inf: fc_p_inf_i,
          nph: fc_nph_i,
          np_inf: fc_np_inf_i,
          cplh: fc_cplh_i,
          cpld: fc_cpld_i,
          cpl_inf: fc_cpl_inf_i
      };
  pipe_reg #(
      .T(pcie_cfg_t)
  ) i_cfg (
      .clk_i,
      .d_i(cfg),
      .q_o(cfg_o)
  );
  pipe_reg #(
      .T(fc_limit_t)
  ) i_fc (
      .clk_i,
      .d_i(fc),
      .q_o(fc_o)
  );

  `STREAM(tlp_beat_t, pins)
  assign pins.valid = rx_tlp_valid_i;
  assign pins.data = '{
          hdr: rx_tlp_hdr_i,
          data: rx_tlp_data_i,
          sop: rx_tlp_sop_i,
          eop: rx_tlp_eop_i
      };
  assign rx_tlp_ready_o = pins.ready;
  spill_reg #(
      .T(tlp_beat_t)
  ) i_rx (
      .clk_i,
      .rst_i,
      .in (pins),
      .out(rx)
  );
endmodule

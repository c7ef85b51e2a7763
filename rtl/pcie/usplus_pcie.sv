// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Between Emery's TLP streams and the PCI Express block of UltraScale+ devices: RQ, RC, CQ and CC of 512 bits (AMD PG213).
///
/// To the logic it is a hard block as pcie_endpoint expects it, with the same `Sent` and `Received`. How the real one is to be configured: 512 bits, Dword-aligned,
/// client tags (8 bits: the block has no more), straddle on RQ and RC (four TLPs) as `Straddle` says, off on CQ and CC, MSI-X table
/// outside. Credits are the block's own to count: the logic sees infinite ones, and reads wait in usplus_meter. Writes and reads leave
/// in one stream (usplus_rq), completions in another (usplus_cc); completions received (usplus_rc) come with `pins_o`, requests
/// (usplus_cq) as a stream of their own, so that neither waits for the other. Reset is the block's `user_reset`. No output depends
/// combinationally on a pin.
module usplus_pcie
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter type Sent = tlp_beat_t,  // or wide_tlp_beat_t
    parameter type Received = tlp_beat_t,  // likewise
    parameter bit Straddle = 1'b1,
    parameter int Lines = 256,  // completions that RC has room for (usplus_meter)
    parameter int Functions = 1,  // with virtual ones, which RQ and CC are then told
    parameter int ApertureW = 24  // of their BAR 0
) (
    input logic clk_i,
    input logic rst_i,

    // Pins of the hard block.
    input  usplus_in_t  usplus_i,
    output usplus_out_t usplus_o,

    // To pcie_endpoint.
    output block_state_t   state_o,
    input  logic           function_reset_done_i,
    input  function_done_t virtual_done_i,
           stream_if.src   rx,                     // Received: completions
           stream_if.src   req,                    // tlp_beat_t: the host's memory requests
           stream_if.snk   tx,                     // Sent
           stream_if.snk   read                    // mem4_hdr_t
);
  pcie_cfg_t cfg;
  logic rcb_128;
  logic [9:0] mgmt_addr;
  logic mgmt_read;
  usplus_cfg #(
      .Functions(Functions)
  ) i_cfg (
      .clk_i,
      .rst_i,
      .function_status_i(usplus_i.cfg_function_status),
      .bus_number_i(usplus_i.cfg_bus_number),
      .max_payload_i(usplus_i.cfg_max_payload),
      .max_read_req_i(usplus_i.cfg_max_read_req),
      .msix_enable_i(usplus_i.cfg_interrupt_msix_enable),
      .msix_mask_i(usplus_i.cfg_interrupt_msix_mask),
      .vf_status_i(usplus_i.cfg_vf_status),
      .vf_flr_i(usplus_i.cfg_vf_flr_in_process),
      .vf_msix_enable_i(usplus_i.cfg_interrupt_msix_vf_enable),
      .vf_msix_mask_i(usplus_i.cfg_interrupt_msix_vf_mask),
      .mgmt_addr_o(mgmt_addr),
      .mgmt_read_o(mgmt_read),
      .mgmt_done_i(usplus_i.cfg_mgmt_read_write_done),
      .mgmt_data_i(usplus_i.cfg_mgmt_read_data),
      .cfg_o(cfg),
      .rcb_128_o(rcb_128)
  );

  // ---------------------------------------------------------------- out: completions one way, requests the other
  Sent tx_beat;
  logic to_cc, to_cc_q;
  `STREAM(Sent, answer)
  `STREAM(Sent, write)
  assign tx_beat = tx.data;
  assign to_cc   = tx_beat.sop ? tx_beat.hdr[127:120] inside {Cpl, CplD} : to_cc_q;
  always_ff @(posedge clk_i) if (tx.valid) to_cc_q <= to_cc;
  assign answer.valid = tx.valid && to_cc;
  assign answer.data = tx_beat;
  assign write.valid = tx.valid && !to_cc;
  assign write.data = tx_beat;
  assign tx.ready = to_cc ? answer.ready : write.ready;

  logic rq_tvalid, rq_tlast, cc_tvalid, cc_tlast;
  logic [511:0] rq_tdata, cc_tdata;
  logic [UsPlusDws-1:0] rq_tkeep, cc_tkeep;
  rq_user_t rq_tuser;
  cc_user_t cc_tuser;
  logic done, forget_q;
  logic [7:0] done_tag;
  // What was asked for before the function was reset has come when the host enables it again.
  always_ff @(posedge clk_i)
    forget_q <= !rst_i && (usplus_i.cfg_flr_in_process[0] || (forget_q && !cfg.bus_master));
  usplus_rq #(
      .Sent(Sent),
      .Straddle(Straddle),
      .Lines(Lines)
  ) i_rq (
      .clk_i,
      .rst_i,
      .tx(write),
      .read,
      .forget_i(forget_q),
      .rcb_128_i(rcb_128),
      .nph_av_i(usplus_i.tfc_nph_av),
      .done_i(done),
      .done_tag_i(done_tag),
      .tready_i(usplus_i.rq_tready),
      .tvalid_o(rq_tvalid),
      .tdata_o(rq_tdata),
      .tkeep_o(rq_tkeep),
      .tlast_o(rq_tlast),
      .tuser_o(rq_tuser)
  );
  usplus_cc #(
      .Sent(Sent)
  ) i_cc (
      .clk_i,
      .rst_i,
      .cpl(answer),
      .tready_i(usplus_i.cc_tready),
      .tvalid_o(cc_tvalid),
      .tdata_o(cc_tdata),
      .tkeep_o(cc_tkeep),
      .tlast_o(cc_tlast),
      .tuser_o(cc_tuser)
  );

  // ---------------------------------------------------------------- in
  logic rc_tready, cq_tready;
  usplus_rc #(
      .Received(Received)
  ) i_rc (
      .clk_i,
      .rst_i,
      .tvalid_i(usplus_i.rc_tvalid),
      .tdata_i(usplus_i.rc_tdata),
      .tuser_i(usplus_i.rc_tuser),
      .tready_o(rc_tready),
      .cpl(rx),
      .done_o(done),
      .done_tag_o(done_tag)
  );
  usplus_cq #(
      .Functions(Functions),
      .ApertureW(ApertureW)
  ) i_cq (
      .clk_i,
      .rst_i,
      .tvalid_i(usplus_i.cq_tvalid),
      .tdata_i (usplus_i.cq_tdata),
      .tuser_i (usplus_i.cq_tuser),
      .tready_o(cq_tready),
      .req
  );
  localparam fc_limit_t Infinite = '{p_inf: 1'b1, np_inf: 1'b1, cpl_inf: 1'b1, default: '0};
  assign usplus_o.rq_tdata = rq_tdata;
  assign usplus_o.rq_tkeep = rq_tkeep;
  assign usplus_o.rq_tuser = rq_tuser;
  assign usplus_o.rq_tlast = rq_tlast;
  assign usplus_o.rq_tvalid = rq_tvalid;
  assign usplus_o.cc_tdata = cc_tdata;
  assign usplus_o.cc_tkeep = cc_tkeep;
  assign usplus_o.cc_tuser = cc_tuser;
  assign usplus_o.cc_tlast = cc_tlast;
  assign usplus_o.cc_tvalid = cc_tvalid;
  assign usplus_o.rc_tready = rc_tready;
  assign usplus_o.cq_tready = cq_tready;
  assign usplus_o.cq_np_req = '1;
  assign usplus_o.cfg_mgmt_addr = mgmt_addr;
  assign usplus_o.cfg_mgmt_read = mgmt_read;
  assign usplus_o.cfg_flr_done = {3'd0, function_reset_done_i};
  assign usplus_o.cfg_vf_flr_done = virtual_done_i.valid;
  assign usplus_o.cfg_vf_flr_func_num = routing_of(virtual_done_i.which);
  assign state_o = '{
          link_up: usplus_i.lnk_up,
          function_reset: usplus_i.cfg_flr_in_process[0],
          cfg: cfg,
          fc: Infinite
      };
endmodule

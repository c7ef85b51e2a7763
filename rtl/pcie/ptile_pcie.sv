// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Between Emery's TLP streams and the PCI Express block of Intel P-tile: two segments of 256 bits a clock each way (Intel 683059).
///
/// To the logic it is a hard block as pcie_endpoint expects it, with the same `Sent` and `Received`. How the real one is to be
/// configured: x16 controller (port 0), 512 bits, MSI-X table outside, completion timeouts left to the logic. Headers are the logic's own, so
/// nothing is made of them here: TLPs are put into segments (ptile_tx) and taken out (ptile_rx). The logic counts the credits
/// that the block tells (ptile_cfg). The block has room for `Lines` completions of 64 bytes and advertises infinite
/// credits for them, so reads wait in usplus_meter; tags of 8 and of 10 bits. Reset is the block's. No output depends combinationally on a pin.
module ptile_pcie
  import pcie_pkg::*;
  import ptile_pkg::*;
#(
    parameter type Sent = tlp_beat_t,  // or wide_tlp_beat_t
    parameter type Received = tlp_beat_t,  // likewise
    parameter int Lines = PTileLines
) (
    input logic clk_i,
    input logic rst_i,

    // Pins of the hard block.
    input  ptile_in_t  ptile_i,
    output ptile_out_t ptile_o,

    // To pcie_endpoint.
    output block_state_t state_o,
    input  logic         function_reset_done_i,
           stream_if.src rx,                     // Received
           stream_if.snk tx,                     // Sent
           stream_if.snk read                    // mem4_hdr_t
);
  pcie_cfg_t cfg;
  fc_limit_t fc;
  ptile_cfg i_cfg (
      .clk_i,
      .rst_i,
      .dl_up_i(ptile_i.dl_up),
      .limit_i(ptile_i.tx_cdts_limit),
      .limit_of_i(ptile_i.tx_cdts_limit_tdm_idx),
      .cfg_add_i(ptile_i.tl_cfg_add),
      .cfg_func_i(ptile_i.tl_cfg_func),
      .cfg_ctl_i(ptile_i.tl_cfg_ctl),
      .wide_tag_i(ptile_i.wide_tag_en),
      .cfg_o(cfg),
      .fc_o(fc)
  );

  // ---------------------------------------------------------------- out
  `STREAM(mem4_hdr_t, allowed)
  `STREAM(mem4_hdr_t, metered)
  logic done, forget_q;
  logic [8:0] done_tag;
  // What was asked for before the function was reset has come when the host enables it again.
  always_ff @(posedge clk_i)
    forget_q <= !rst_i && (ptile_i.flr_rcvd_pf[0] || (forget_q && !cfg.bus_master));
  usplus_meter #(
      .Lines(Lines),
      .TagW (9)
  ) i_meter (
      .clk_i,
      .rst_i,
      .forget_i(forget_q),
      .rcb_128_i(1'b0),  // by twice as many bytes there is no more room for data
      .nph_av_i('1),  // the logic has counted them
      .sent_i({1'b0, allowed.valid && allowed.ready}),
      .done_i(done),
      .done_tag_i(done_tag),
      .in(read),
      .out(allowed)
  );
  `SPILL(mem4_hdr_t, i_metered, allowed, metered)
  ptile_seg_t sent[PTileSegs], received[PTileSegs];
  ptile_tx #(
      .Sent(Sent)
  ) i_tx (
      .clk_i,
      .rst_i,
      .tx,
      .read(metered),
      .ready_i(ptile_i.tx_st_ready),
      .seg_o(sent)
  );

  // ---------------------------------------------------------------- in
  logic rx_ready;
  for (genvar i = 0; i < PTileSegs; i++) begin : g_received
    assign received[i] = '{
            valid: ptile_i.rx_st_valid[i],
            sop: ptile_i.rx_st_sop[i],
            eop: ptile_i.rx_st_eop[i],
            hdr: ptile_i.rx_st_hdr[128*i+:128],
            data: ptile_i.rx_st_data[PTileSegBits*i+:PTileSegBits]
        };
  end
  ptile_rx #(
      .Received(Received)
  ) i_rx (
      .clk_i,
      .rst_i,
      .seg_i(received),
      .ready_o(rx_ready),
      .out(rx)
  );

  // The last completion of a request, or one that ends it.
  cpl_hdr_t cpl;
  assign cpl = rx.data.hdr;
  wire [12:0] got = {cpl.dw0.length == '0, cpl.dw0.length, 2'd0} - 13'(cpl.lower_addr[1:0]);
  wire [12:0] want = {cpl.byte_count == '0, cpl.byte_count};
  wire unused = &{1'b0, cpl};
  always_ff @(posedge clk_i) begin
    done <= rx.valid && rx.ready && rx.data.sop && !rst_i && cpl.dw0.fmt_type inside {Cpl, CplD} &&
        (cpl.dw0.fmt_type == Cpl || cpl.status != StatusSC || want <= got);
    done_tag <= {cpl.dw0.tag9, cpl.tag};
  end

  assign ptile_o = '{
          rx_st_ready: rx_ready,
          tx_st_data: {sent[1].data, sent[0].data},
          tx_st_hdr: {sent[1].hdr, sent[0].hdr},
          tx_st_sop: {sent[1].sop && sent[1].valid, sent[0].sop && sent[0].valid},
          tx_st_eop: {sent[1].eop && sent[1].valid, sent[0].eop && sent[0].valid},
          tx_st_valid: {sent[1].valid, sent[0].valid},
          flr_completed_pf: {7'd0, function_reset_done_i}
      };
  assign state_o = '{
          link_up: ptile_i.dl_up,
          function_reset: ptile_i.flr_rcvd_pf[0],
          cfg: cfg,
          fc: fc
      };
endmodule

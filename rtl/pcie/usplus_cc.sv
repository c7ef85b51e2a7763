// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Completions to the CC interface of the UltraScale+ block, one TLP a beat (straddle off).
///
/// The block puts in the completer's number. Latency 4 clocks from the last beat, full back-pressure. Reset drops what is held.
module usplus_cc
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter type Sent = tlp_beat_t  // or wide_tlp_beat_t
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk cpl,  // Sent

    input  logic                     tready_i,
    output logic                     tvalid_o,
    output logic     [        511:0] tdata_o,
    output logic     [UsPlusDws-1:0] tkeep_o,
    output logic                     tlast_o,
    output cc_user_t                 tuser_o
);
  localparam int BeatDws = ($bits(Sent) - $bits(tlp_beat_t)) / 32 + TlpDws;
  typedef struct packed {
    logic sop;
    logic eop;
    usplus_head_t head;
    logic [10:0] dws;
    logic [32*BeatDws-1:0] data;
  } packed_t;

  `STREAM(packed_t, answer)
  `STREAM(usplus_head_t, none)
  Sent beat;
  cpl_hdr_t hdr, hdr_q;
  assign beat = cpl.data;
  assign hdr  = beat.sop ? beat.hdr : hdr_q;
  cc_desc_t desc;
  `WHILE(cpl.valid, desc, '{attr: {hdr.dw0.attr_ido, hdr.dw0.attr_ro, hdr.dw0.attr_ns},
                          tc: hdr.dw0.tc, completer_id: hdr.completer_id, tag: hdr.tag,
                          requester_id: hdr.requester_id, poisoned: hdr.dw0.ep, status:
                                                                                  hdr.status,
                          dword_count: hdr.dw0.fmt_type[6] ? dword_count(hdr.dw0.length) : '0,
                          byte_count: {hdr.byte_count == '0, hdr.byte_count}, at: hdr.dw0.at,
                          lower_addr: hdr.lower_addr, default: '0})
  assign answer.valid = cpl.valid;
  `STREAM_DATA(answer, '{sop: beat.sop, eop: beat.eop, head: '{desc: 128'(desc), default: '0},
                       dws: desc.dword_count, data: beat.data})
  assign cpl.ready = answer.ready;
  always_ff @(posedge clk_i) if (cpl.valid && cpl.ready) hdr_q <= hdr;

  assign none.valid = 1'b0;
  assign none.data  = '0;
  wire unused = &{1'b0, none.ready};
  `STREAM(usplus_halves_t, packed_beat)
  `STREAM(usplus_halves_t, pins)
  usplus_pack #(
      .Tlp(packed_t),
      .BeatDws(BeatDws),
      .DescDws($bits(cc_desc_t) / 32),
      .Straddle(1'b0)
  ) i_pack (
      .clk_i,
      .rst_i,
      .in(answer),
      .alone(none),
      .alone_yields_i(1'b0),
      .in_yields_i(1'b0),
      .out(packed_beat)
  );
  `SPILL(usplus_halves_t, i_pins, packed_beat, pins)
  usplus_mark_t [1:0] half;
  assign half = pins.data.mark;
  wire ends = half[pins.data.upper].eop;
  assign pins.ready = tready_i;
  assign tvalid_o = pins.valid;
  assign tdata_o = pins.data.data;
  `WHILE(pins.valid, tkeep_o, keep_of(pins.data.upper, half[pins.data.upper]))
  assign tlast_o = ends;
  `WHILE(pins.valid, tuser_o, '{sop: {1'b0, half[0].sop}, eop: {1'b0, ends},
                              eop_ptr: 8'({pins.data.upper, half[pins.data.upper].last_dw}),
                              default: '0})
endmodule

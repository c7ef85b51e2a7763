// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Memory requests to the RQ interface of the UltraScale+ block: posted writes and reads in one stream.
///
/// With `Straddle` (an option of the block) TLPs of up to 32 bytes with their descriptor go two a clock, and nothing but the
/// last half of a TLP is left empty while others wait (usplus_pack). Reads are metered (usplus_meter); where both wait, writes and reads
/// carry the same number of bytes (usplus_share). The block puts in the requester's number. Latency 5 clocks from a write's last beat, 3 of a read. `tx` and `read` have full back-pressure. Reset
/// drops what is held.
module usplus_rq
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter type Sent = tlp_beat_t,  // or wide_tlp_beat_t
    parameter bit Straddle = 1'b1,
    parameter int Lines = 256
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk tx,   // tlp_beat_t: memory writes
    stream_if.snk read, // mem4_hdr_t (or mem3_hdr_t): memory reads

    // What lets reads go: usplus_meter.
    input logic       forget_i,
    input logic       rcb_128_i,
    input logic [3:0] nph_av_i,
    input logic       done_i,
    input logic [7:0] done_tag_i,

    input  logic                     tready_i,
    output logic                     tvalid_o,
    output logic     [        511:0] tdata_o,
    output logic     [UsPlusDws-1:0] tkeep_o,
    output logic                     tlast_o,
    output rq_user_t                 tuser_o
);
  `STREAM(mem4_hdr_t, metered)
  // The descriptors of a write and of a read.
  mem4_hdr_t hdr [2];
  rq_desc_t  desc[2];
  for (genvar i = 0; i < 2; i++) begin : g_desc
    `WHILE(i == 0 ? tx.valid : metered.valid, desc[i],
           '{
               attr: {hdr[i].dw0.attr_ido, hdr[i].dw0.attr_ro, hdr[i].dw0.attr_ns},
               tc: hdr[i].dw0.tc,
               tag: hdr[i].tag,
               requester_id: hdr[i].requester_id,
               poisoned: hdr[i].dw0.ep,
               req_type: i == 0 ? UsMemWrite : UsMemRead,
               dword_count: dword_count(hdr[i].dw0.length),
               addr: hdr[i].dw0.fmt_type[5] ? hdr[i].addr[63:2] : {32'd0, hdr[i].addr[63:34]},
               at: hdr[i].dw0.at,
               default: '0
           })
  end

  // ---------------------------------------------------------------- writes
  localparam int BeatDws = ($bits(Sent) - $bits(tlp_beat_t)) / 32 + TlpDws;
  typedef struct packed {
    logic sop;
    logic eop;
    usplus_head_t head;
    logic [10:0] dws;
    logic [32*BeatDws-1:0] data;
  } packed_t;

  `STREAM(packed_t, write)
  Sent beat;
  mem4_hdr_t hdr_q;
  assign beat = tx.data;
  assign hdr[0] = beat.sop ? beat.hdr : hdr_q;
  assign write.valid = tx.valid;
  `STREAM_DATA(write, '{sop: beat.sop, eop: beat.eop,
                      head: '{desc: desc[0], last_be: hdr[0].last_be, first_be: hdr[0].first_be
                      }, dws: dword_count(hdr[0].dw0.length), data: beat.data})
  assign tx.ready = write.ready;
  always_ff @(posedge clk_i) if (tx.valid && tx.ready) hdr_q <= hdr[0];

  // ---------------------------------------------------------------- reads
  `STREAM(mem4_hdr_t, allowed)
  `STREAM(usplus_head_t, request)
  logic [1:0] sent;  // over the pins in this clock
  usplus_meter #(
      .Lines(Lines)
  ) i_meter (
      .clk_i,
      .rst_i,
      .forget_i,
      .rcb_128_i,
      .nph_av_i,
      .sent_i(sent),
      .done_i,
      .done_tag_i,
      .in(read),
      .out(allowed)
  );
  `SPILL(mem4_hdr_t, i_metered, allowed, metered)
  assign hdr[1] = metered.data;
  assign request.valid = metered.valid;
  `STREAM_DATA(request, '{desc: desc[1], last_be: hdr[1].last_be, first_be: hdr[1].first_be})
  assign metered.ready = request.ready;

  // ---------------------------------------------------------------- who goes first
  logic reads_yield, writes_yield;
  usplus_share i_share (
      .clk_i,
      .rst_i,
      .asked_i(request.valid && request.ready),
      .asked_dws_i(dword_count(hdr[1].dw0.length)),
      .wrote_i(write.valid && write.ready && beat.sop),
      .wrote_dws_i(dword_count(hdr[0].dw0.length)),
      .reads_yield_o(reads_yield),
      .writes_yield_o(writes_yield)
  );

  // ---------------------------------------------------------------- out
  `STREAM(usplus_halves_t, packed_beat)
  `STREAM(usplus_halves_t, pins)
  usplus_pack #(
      .Tlp(packed_t),
      .BeatDws(BeatDws),
      .Straddle(Straddle)
  ) i_pack (
      .clk_i,
      .rst_i,
      .in(write),
      .alone(request),
      .alone_yields_i(reads_yield),
      .in_yields_i(writes_yield),
      .out(packed_beat)
  );
  `SPILL(usplus_halves_t, i_pins, packed_beat, pins)
  usplus_mark_t [1:0] half;
  assign half = pins.data.mark;
  wire  [1:0] sop = {half[1].sop && pins.data.upper, half[0].sop};
  logic [1:0] read_at;
  wire  [1:0] eop = {half[1].eop && pins.data.upper, half[0].eop};
  assign pins.ready = tready_i;
  for (genvar i = 0; i < 2; i++) begin : g_sent
    wire rq_desc_t first = pins.data.data[i][127:0];
    wire unused = &{1'b0, first};
    assign read_at[i] = sop[i] && first.req_type == UsMemRead;
  end
  assign sent = pins.valid && tready_i ? 2'($countones(read_at)) : '0;
  assign tvalid_o = pins.valid;
  assign tdata_o = pins.data.data;
  assign tkeep_o = Straddle ? '1 : keep_of(pins.data.upper, half[pins.data.upper]);
  assign tlast_o = |eop && !Straddle;
  `WHILE(pins.valid, tuser_o,
         '{sop: {&sop, |sop}, sop_ptr: {2'd2, sop[0] ? 2'd0 : 2'd2}, eop: {&eop, |eop},
         eop_ptr: {1'b1, half[1].last_dw, eop[0] ? {1'b0, half[0].last_dw} : {1'b1,
                                           half[1].last_dw}},
         first_be: {half[1].first_be, sop[0] ? half[0].first_be : half[1].first_be},
         last_be: {half[1].last_be, sop[0] ? half[0].last_be : half[1].last_be}, default: '0})
endmodule

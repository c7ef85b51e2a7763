// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Lets a read request go when the UltraScale+ block has room for its answer and the link for it.
///
/// The block advertises infinite credits for completions, so reads must keep to its buffer (PG213, Managing Receive-Buffer
/// Space, PACKET_FC): of `Lines` completions a request holds as many as the lines of 64 bytes it touches (of 128 where the host
/// says that it cuts at those only, `rcb_128_i`), for it may be answered in such, until the last one has come (`done_i`, of the
/// tag). A tag that is given out again had no such end: its lines come back then. All requesters go through here. A request
/// without credit would hold up the writes behind it, so one goes only while `nph_av_i` is above the number of those it does not
/// know of: on their way to the pins, or taken there (`sent_i`) less than `Late` clocks ago, two of the block (PG213, Avoiding
/// Head-of-Line Blocking for Posted Requests) and one here.
/// While `forget_i` is high no request is answered (the function is reset, and not enabled since): all lines are free.
/// Latency 1 clock, one request a clock, full back-pressure. Reset with the link: nothing is under way then.
module usplus_meter
  import pcie_pkg::*;
#(
    parameter int Lines = 256,
    parameter int Late = 3,
    parameter  int TagW  = 8,         // 9: tags of 10 bits too, by all but the lower of their upper two (wide_tag_of)
    localparam int Tags = 2 ** TagW
) (
    input logic clk_i,
    input logic rst_i,
    input logic forget_i,
    input logic rcb_128_i,

    input logic [     3:0] nph_av_i,
    input logic [     1:0] sent_i,
    input logic            done_i,
    input logic [TagW-1:0] done_tag_i,

    stream_if.snk in,  // mem4_hdr_t
    stream_if.src out  // mem4_hdr_t
);
  localparam int NeedW = 7;  // a request of 4 kB touches 65
  localparam int FreeW = $clog2(Lines + 1);
  if (Lines < 65) begin : g_bad_parameter
    $fatal(1, "usplus_meter: Lines %0d is less than the longest request needs", Lines);
  end

  typedef struct packed {
    mem4_hdr_t hdr;
    logic [NeedW-1:0] need;
  } metered_t;
  `STREAM(metered_t, given)
  `STREAM(metered_t, held)
  mem4_hdr_t hdr;
  assign hdr = in.data;
  wire [4:0] low = hdr.dw0.fmt_type[5] ? hdr.addr[6:2] : hdr.addr[38:34];
  wire [4:0] in_line = {low[4] && rcb_128_i, low[3:0]};
  wire [11:0] span = {1'b0, hdr.dw0.length == '0, hdr.dw0.length} + 12'(in_line) + {7'd0, rcb_128_i, 4'd15};
  assign given.valid = in.valid;
  `STREAM_DATA(given, '{hdr: hdr, need: rcb_128_i ? NeedW'(span[11:5]) : span[4+:NeedW]})
  assign in.ready = given.ready;
  `SPILL(metered_t, i_held, given, held)

  logic [NeedW-1:0] need[Tags];
  logic [Tags-1:0] open_q;
  logic [FreeW-1:0] free_q;
  logic [Late-1:0][1:0] sent_q;
  logic [3:0] nph_q, unknown_q;
  logic shown_q;
  wire [TagW-1:0] tag = TagW'({held.data.hdr.dw0.tag9, held.data.hdr.tag});
  wire credit = nph_q > unknown_q;
  // Once shown it stays.
  assign out.valid  = held.valid && (shown_q || (credit && free_q >= FreeW'(held.data.need)));
  assign out.data   = held.data.hdr;
  assign held.ready = out.ready && out.valid;

  wire go = out.valid && out.ready;
  logic [NeedW-1:0] from_done_q, from_lost_q;  // lines that come back
  always_ff @(posedge clk_i) begin
    nph_q <= nph_av_i;
    sent_q <= {sent_q[Late-2:0], sent_i};
    unknown_q <= unknown_q + 4'(go) - 4'(sent_q[Late-1]);
    shown_q <= out.valid && !out.ready;
    from_done_q <= done_i && open_q[done_tag_i] ? need[done_tag_i] : '0;
    from_lost_q <= go && open_q[tag] && !(done_i && done_tag_i == tag) ? need[tag] : '0;
    free_q <= free_q + FreeW'(from_done_q) + FreeW'(from_lost_q) - (go ? FreeW'(held.data.need) : '0);
    if (done_i) open_q[done_tag_i] <= 1'b0;
    if (go) begin
      open_q[tag] <= 1'b1;
      need[tag]   <= held.data.need;
    end
    if (rst_i) begin
      sent_q <= '0;
      unknown_q <= '0;
      shown_q <= 1'b0;
    end
    if (rst_i || forget_i) begin
      free_q <= FreeW'(Lines);
      open_q <= '0;
      {from_done_q, from_lost_q} <= '0;
    end
  end

  `ASSERT(Sent, 4'(sent_q[Late-1]) <= unknown_q)
  `ASSERT(Room, free_q <= FreeW'(Lines))
endmodule

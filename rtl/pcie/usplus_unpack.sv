// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Takes TLPs of the UltraScale+ block apart: descriptor beside the payload, which begins in lane 0.
///
/// TLPs begin where `sop_at` says, at any multiple of 16 bytes. Descriptors are those of requests, or with `Requests` clear of
/// completions. One beat of payload a clock, a TLP takes one at least: no slower than `in` while TLPs have 52 bytes on the average.
/// Latency 2 clocks, or until the beat is there in which the payload goes on. Full back-pressure. Reset drops what is held.
module usplus_unpack
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter bit Requests = 1'b0
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk in,  // usplus_beat_t
    stream_if.src out  // usplus_rx_t
);
  localparam int DescDws = Requests ? $bits(cq_desc_t) / 32 : $bits(rc_desc_t) / 32;
  if (TlpDws != UsPlusDws) begin : g_bad_parameter
    $fatal(1, "usplus_unpack: beats of %0d Dwords", TlpDws);
  end

  // The beat at hand; what follows it is on `in`.
  usplus_beat_t now_q;
  logic full_q, inside_q;
  logic [1:0] place_q;  // of it, in 16 bytes: nothing before it is still to come
  logic [3:0] offset_q;  // inside a TLP: of the payload's next Dword
  logic [10:0] left_q;  // and how many there are

  // Where the next TLP begins, or goes on.
  logic [1:0] start;
  logic found;
  always_comb begin
    start = '0;
    found = 1'b0;
    for (int i = 3; i >= 0; i--) begin
      if (now_q.sop_at[i] && 2'(i) >= place_q) begin
        start = 2'(i);
        found = 1'b1;
      end
    end
  end
  wire  [127:0] desc = 128'(now_q.data >> {start, 7'd0});
  logic [ 10:0] count;
  if (Requests) begin : g_request
    wire cq_desc_t request = desc;
    wire unused = &{1'b0, request};
    assign count = request.req_type == UsMemWrite ? request.dword_count : '0;
  end else begin : g_completion
    wire rc_desc_t completion = desc[95:0];
    wire unused = &{1'b0, completion};
    assign count = completion.dword_count;
  end

  wire [4:0] first = inside_q ? {1'b0, offset_q} : {1'b0, start, 2'd0} + 5'(DescDws);
  wire [10:0] left = inside_q ? left_q : count;
  wire last = left <= 11'(TlpDws);
  wire [4:0] take = last ? left[4:0] : 5'(TlpDws);
  wire [5:0] stop = {1'b0, first} + 6'(take);  // in Dwords from the beginning of the beat at hand
  wire crosses = stop > 6'(UsPlusDws);

  `STREAM(usplus_rx_t, taken)
  `SPILL(usplus_rx_t, i_out, taken, out)
  assign taken.valid = full_q && (inside_q || found) && (!crosses || in.valid);
  assign taken.data = '{
          sop: !inside_q,
          eop: last,
          desc: desc,
          last_be: now_q.last_be,
          first_be: now_q.first_be,
          data: 512'({crosses ? in.data.data : '0, now_q.data} >> {first, 5'd0})
      };

  // The next beat when nothing more begins in this one.
  wire move = taken.valid && taken.ready;
  wire [5:0] place = (stop + 6'd3) >> 2;  // where the TLP has ended, in 16 bytes
  wire more = last && !crosses && |(now_q.sop_at & (4'hf << place));
  wire step = !full_q || (!inside_q && !found) || (move && !more);
  assign in.ready = step;

  always_ff @(posedge clk_i) begin
    if (step) begin
      now_q  <= in.data;
      full_q <= in.valid;
    end
    if (move) begin
      inside_q <= !last;
      left_q   <= left - 11'(TlpDws);
      offset_q <= first[3:0];
    end
    if (step) place_q <= '0;
    else if (move) place_q <= place[1:0];
    if (rst_i) begin
      full_q   <= 1'b0;
      inside_q <= 1'b0;
      place_q  <= '0;
    end
  end

  `ASSERT(NeverWithout, taken.valid |-> found || inside_q)
endmodule

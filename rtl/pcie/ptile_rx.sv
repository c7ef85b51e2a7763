// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// TLPs out of the segments of Intel P-tile's receive interface: payload from lane 0 of a beat of 64 or 128 bytes on.
///
/// One TLP a clock at the most, and as many segments as come: slower than the block only while TLPs of one segment come two a clock. What
/// the block sends in the PTileRxLatency clocks after `ready_o` has fallen has its place (`Depth` clocks of it). Latency 3 clocks,
/// or until the last segment of the beat. Full back-pressure. Reset drops what is held.
module ptile_rx
  import pcie_pkg::*;
  import ptile_pkg::*;
#(
    parameter type Received = tlp_beat_t,  // or wide_tlp_beat_t
    parameter int Depth = 64,
    localparam int Full = ($bits(Received) - 130) / PTileSegBits  // segments of a beat
) (
    input logic clk_i,
    input logic rst_i,

    input  ptile_seg_t   seg_i  [PTileSegs],
    output logic         ready_o,
           stream_if.src out                  // Received
);
  localparam int Spare = PTileRxLatency + 3;  // clocks that come after the level is seen
  if (Depth <= Spare) begin : g_bad_parameter
    $fatal(1, "ptile_rx: Depth %0d is not above %0d", Depth, Spare);
  end
  localparam int LevelW = $clog2(Depth + 1);
  typedef ptile_seg_t [PTileSegs-1:0] segs_t;
  `STREAM(segs_t, pins)
  `STREAM(segs_t, stored)
  logic [LevelW-1:0] level;
  segs_t pins_q;
  logic pins_valid_q;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < PTileSegs; i++) pins_q[i] <= seg_i[i];
    pins_valid_q <= (seg_i[0].valid || seg_i[1].valid) && !rst_i;
    ready_o <= level < LevelW'(Depth - Spare) && !rst_i;
  end
  assign pins.valid = pins_valid_q;
  assign pins.data  = pins_q;
  fifo #(
      .T(segs_t),
      .Depth(Depth)
  ) i_stored (
      .clk_i,
      .rst_i,
      .in(pins),
      .out(stored),
      .count_o(level)
  );

  // ---------------------------------------------------------------- the segments that are not yet in a beat
  localparam int CountW = $clog2(Full + 1);
  segs_t now;
  assign now = stored.data;
  logic second_q;  // the first one of `now` has been taken
  ptile_seg_t held_q[Full-1];
  logic [CountW-1:0] count_q;
  logic [127:0] hdr_q;
  logic begins_q;  // the beat that is gathered is its TLP's first

  wire first_here = stored.valid && now[0].valid && !second_q;
  wire second_here = stored.valid && now[1].valid;
  ptile_seg_t a, b;  // the next one, and the one behind it
  assign a = first_here ? now[0] : now[1];
  assign b = now[1];
  wire some = first_here || second_here;
  wire a_ends = a.eop || count_q == CountW'(Full - 1);
  wire both = first_here && second_here;
  wire b_joins = both && !a_ends;  // the same beat
  wire b_ends = b.eop || count_q == CountW'(Full - 2);
  wire b_waits = both && a_ends && b.eop;  // needs a beat of its own
  wire b_begins = both && a_ends && !b.eop;

  wire goes = some && (a_ends || (b_joins && b_ends));
  `STREAM(Received, taken)
  `SPILL(Received, i_out, taken, out)
  wire move = some && (!goes || taken.ready);
  logic [Full*PTileSegBits-1:0] data;
  always_comb begin
    for (int i = 0; i < Full; i++) begin
      data[i*PTileSegBits+:PTileSegBits] = b.data;
      if (CountW'(i) == count_q) data[i*PTileSegBits+:PTileSegBits] = a.data;
      if (i < Full - 1 && CountW'(i) < count_q)
        data[i*PTileSegBits+:PTileSegBits] = held_q[(i<Full-1)?i : 0].data;
    end
  end
  wire sop = count_q == '0 ? a.sop : begins_q;
  assign taken.valid = goes;
  assign taken.data = '{
          sop: sop,
          eop: a_ends ? a.eop : b.eop,
          hdr: count_q == '0 && a.sop ? a.hdr : hdr_q,
          data: data
      };
  assign stored.ready = move && !b_waits;

  always_ff @(posedge clk_i) begin
    if (move) begin
      second_q <= b_waits;
      count_q  <= goes ? CountW'(b_begins) : count_q + CountW'(some) + CountW'(b_joins);
      for (int i = 0; i < Full - 1; i++) begin
        if (CountW'(i) == count_q) held_q[i] <= a;
        if (CountW'(i) == count_q + 1'b1) held_q[i] <= b;
      end
      if (a.sop) hdr_q <= a.hdr;
      if (count_q == '0) begins_q <= a.sop;
      if (b_begins) begin
        held_q[0] <= b;
        begins_q  <= b.sop;
        if (b.sop) hdr_q <= b.hdr;
      end
    end
    if (rst_i) begin
      second_q <= 1'b0;
      count_q  <= '0;
    end
  end

  `ASSERT(NeverFull, pins.valid |-> pins.ready)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// TLPs side by side in the segments of Intel P-tile's transmit interface.
///
/// `tx` brings TLPs with or without payload, `read` read requests, which are header only. A TLP begins in the segment behind the one
/// before it: while TLPs wait both segments are full in every clock; one of `tx` and one of `read` are taken together. The block
/// takes no gap inside a TLP, so one of `tx` begins when its last beat is there (`Depth` beats wait). Latency 4 clocks from the
/// last beat. Full back-pressure; `ready_i` stands for the clock PTileTxLatency later. Reset drops what is held.
module ptile_tx
  import pcie_pkg::*;
  import ptile_pkg::*;
#(
    parameter  type Sent  = tlp_beat_t,                          // or wide_tlp_beat_t
    localparam int  Full  = ($bits(Sent) - 130) / PTileSegBits,  // segments of a full beat
    localparam int  Depth = 1024 / PTileSegBytes / Full          // beats: the longest payload
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk tx,   // Sent
    stream_if.snk read, // mem4_hdr_t

    input  logic       ready_i,
    output ptile_seg_t seg_o  [PTileSegs]
);
  localparam int Most = Full + 2;  // with one left over and one of `read`
  localparam int CountW = $clog2(Most + 1);
  localparam int WholeW = $clog2(Depth + 1);
  localparam int SegDws = PTileSegBytes / 4;

  // ---------------------------------------------------------------- whole TLPs, with how many segments each beat has
  typedef struct packed {
    logic [CountW-1:0] segs;
    Sent beat;
  } stored_t;
  `STREAM(stored_t, given)
  `STREAM(stored_t, stored)
  Sent beat;
  tlp_dw0_t dw0, dw0_q;
  assign beat = tx.data;
  assign dw0  = beat.sop ? beat.hdr[127:96] : dw0_q;
  localparam int LowW = $clog2(Full * SegDws);
  wire [LowW-1:0] low = dw0.fmt_type[6] ? dw0.length[LowW-1:0] : LowW'(1);
  wire [LowW-1:0] last_dw = low - 1'b1;  // of the last beat
  wire unused = &{1'b0, last_dw, dw0};
  assign given.valid = tx.valid;
  assign given.data = '{
          segs: beat.eop ? CountW'(last_dw[LowW-1:$clog2(SegDws)]) + 1'b1 : CountW'(Full),
          beat: beat
      };
  assign tx.ready = given.ready;
  always_ff @(posedge clk_i) if (tx.valid) dw0_q <= dw0;
  `FIFO(stored_t, Depth, i_stored, given, stored)

  Sent now;
  assign now = stored.data.beat;
  wire [CountW-1:0] segs = stored.data.segs;
  logic [WholeW-1:0] whole_q;  // that are stored, and
  logic ended_q;  // one more, a clock later
  logic inside_q;
  wire ready = stored.valid && (inside_q || whole_q != '0);
  ptile_seg_t piece[Full], single;
  for (genvar i = 0; i < Full; i++) begin : g_piece
    assign piece[i] = '{
            valid: 1'b1,
            sop: i == 0 && now.sop,
            eop: now.eop && segs == CountW'(i + 1),
            hdr: now.hdr,
            data: now.data[i*PTileSegBits+:PTileSegBits]
        };
  end
  assign single = '{valid: 1'b1, sop: 1'b1, eop: 1'b1, hdr: read.data, data: '0};

  // ---------------------------------------------------------------- what is left over, then the beat, then the read
  logic [PTileTxLatency-2:0] ready_q;
  wire go = ready_q[PTileTxLatency-2];  // the register at the pins may be filled
  ptile_seg_t rest_q[Full], row[Most];
  logic [CountW-1:0] left_q;
  wire take = go && left_q <= CountW'(1);
  wire take_beat = take && ready;
  wire take_read = take && read.valid && (ready ? now.eop : !inside_q);
  wire [CountW-1:0] from_beat = left_q + (take_beat ? segs : '0);
  wire [CountW-1:0] total = from_beat + CountW'(take_read);
  assign stored.ready = take_beat;
  assign read.ready   = take_read;
  always_comb begin
    for (int i = 0; i < Most; i++) begin
      row[i] = single;
      if (CountW'(i) < from_beat) begin
        row[i] = piece[(i<Full)?i : Full-1];
        if (left_q != '0) row[i] = piece[(i==0)?0 : (i-1<Full)?i-1 : Full-1];
      end
      if (i < Full && CountW'(i) < left_q) row[i] = rest_q[(i<Full)?i : 0];
    end
  end

  always_ff @(posedge clk_i) begin
    ready_q <= {ready_q[PTileTxLatency-3:0], ready_i};
    ended_q <= tx.valid && tx.ready && beat.eop && !rst_i;
    whole_q <= whole_q + WholeW'(ended_q) - WholeW'(take_beat && now.eop);
    if (take_beat) inside_q <= !now.eop;
    for (int i = 0; i < PTileSegs; i++) begin
      seg_o[i] <= row[i];
      seg_o[i].valid <= go && total > CountW'(i) && !rst_i;
    end
    if (go) begin
      for (int i = 0; i < Full; i++) rest_q[i] <= row[i+2];
      left_q <= total > CountW'(2) ? total - CountW'(2) : '0;
    end
    if (rst_i) begin
      ready_q  <= '0;
      whole_q  <= '0;
      inside_q <= 1'b0;
      left_q   <= '0;
    end
  end

  `ASSERT(WholeTlp, inside_q |-> stored.valid)
  `ASSERT(NoGap, seg_o[0].valid && !seg_o[0].eop |-> seg_o[1].valid)
endmodule

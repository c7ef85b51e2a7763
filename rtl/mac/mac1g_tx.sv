// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames from words of 64 bits in the bus clock domain to the bytes of a 1G MAC (direct-router paper, section III).
///
/// A frame shorter than 60 bytes is padded with zeros. A frame starts once it is there to its end, or `StartWords` words of
/// it; from then on it has no gaps. (Frames up to 8 * StartWords bytes need nothing for that; longer ones a `frame` that
/// delivers a word each 8 MAC clocks.) No bubble between frames; the MAC makes the gap by not being ready.
/// One word a bus clock in, a byte a MAC clock out, full back-pressure. Drops nothing; `err` goes to the MAC with the last
/// byte. Both resets must be given together.
module mac1g_tx
  import eth_pkg::*;
#(
    parameter  int Depth      = 256,  // words in the MAC clock domain
    parameter  int StartWords = 200,
    localparam int CrossDepth = 16
) (
    // Bus clock domain.
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk frame,  // word_beat_t

    // MAC clock domain.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    output logic       tx_valid_o,
    input  logic       tx_ready_i,
    output byte_beat_t tx_o
);
  if (StartWords < 1 || StartWords > Depth) begin : g_bad_parameter
    $fatal(1, "mac1g_tx: StartWords %0d does not fit Depth %0d", StartWords, Depth);
  end
  localparam int CountW = $clog2(Depth + 1);
  localparam logic [3:0] LastWord = 4'((MinFrame - 1) / 8);  // of the shortest frame,
  localparam logic [3:0] LastLen = 4'(MinFrame - 8 * int'(LastWord));  // and its bytes

  // Bus side: pad, then cross.
  `STREAM(word_beat_t, cross_in)
  `STREAM_ON(word_beat_t, store_in, mac_clk_i, mac_rst_i)
  `STREAM_ON(word_beat_t, store, mac_clk_i, mac_rst_i)
  logic [$clog2(CrossDepth):0] unused_crossing;
  logic [CountW-1:0] stored;

  word_beat_t word;
  logic [3:0] at_q;  // number of the next word, at most that behind the shortest frame
  logic padding_q;  // words of zeros are still to come
  logic err_q;  // of the frame that is padded
  assign word = frame.data;
  wire at_last = at_q == LastWord;
  wire pads = word.eop && (at_q < LastWord || (at_last && word.len < LastLen));

  assign cross_in.valid = padding_q || frame.valid;
  assign frame.ready = !padding_q && cross_in.ready;
  always_comb begin
    cross_in.data = word;
    if (padding_q) begin
      cross_in.data = '{data: '0, len: 4'd8, sop: 1'b0, eop: 1'b0, err: 1'b0};
    end else if (frame.valid && word.eop) begin
      // What lies behind the frame's end is not for the wire.
      for (int i = 0; i < 8; i++) begin
        if (4'(i) >= word.len) cross_in.data.data[8*i+:8] = '0;
      end
    end
    if (padding_q || pads) begin
      cross_in.data.len = at_last ? LastLen : 4'd8;
      cross_in.data.eop = at_last;
      cross_in.data.err = at_last && (padding_q ? err_q : word.err);
    end
  end

  always_ff @(posedge clk_i) begin
    if (cross_in.valid && cross_in.ready) begin
      at_q <= cross_in.data.eop ? '0 : at_q > LastWord ? at_q : at_q + 1'b1;
      padding_q <= (padding_q || pads) && !at_last;
      if (!padding_q) err_q <= word.err;
    end
    if (rst_i) begin
      at_q <= '0;
      padding_q <= 1'b0;
    end
  end

  fifo_async #(
      .T(word_beat_t),
      .Depth(CrossDepth)
  ) i_cross (
      .wclk_i (clk_i),
      .wrst_i (rst_i),
      .in     (cross_in),
      .count_o(unused_crossing),
      .rclk_i (mac_clk_i),
      .rrst_i (mac_rst_i),
      .out    (store_in)
  );

  // MAC side: the store, and how much of it may go.
  fifo #(
      .T(word_beat_t),
      .Depth(Depth)
  ) i_store (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .in(store_in),
      .out(store),
      .count_o(stored)
  );

  logic [CountW-1:0] whole_q;  // ends of frames in the store
  logic started_q;  // inside a frame
  logic [2:0] lane_q;
  word_beat_t head;
  assign head = store.data;
  wire end_in = store_in.valid && store_in.ready && store_in.data.eop;
  wire end_out = store.valid && store.ready && store.data.eop;

  // These grow only, until the frame's own words leave: a start once offered stays offered.
  wire start = whole_q != '0 || stored >= CountW'(StartWords);
  wire last_lane = 4'(lane_q) + 4'd1 == head.len;
  wire sent = tx_valid_o && tx_ready_i;
  assign tx_valid_o = store.valid && (started_q || start);
  assign tx_o = '{
          data: head.data[{lane_q, 3'd0}+:8],
          sop: head.sop && lane_q == 3'd0,
          eop: head.eop && last_lane,
          err: head.err && last_lane
      };
  assign store.ready = sent && last_lane;

  always_ff @(posedge mac_clk_i) begin
    whole_q <= whole_q + CountW'(end_in) - CountW'(end_out);
    if (sent) begin
      started_q <= !tx_o.eop;
      lane_q <= last_lane ? 3'd0 : lane_q + 1'b1;
    end
    if (mac_rst_i) begin
      whole_q <= '0;
      started_q <= 1'b0;
      lane_q <= 3'd0;
    end
  end

  `ASSERT(NoGapInFrame, started_q |-> tx_valid_o, mac_clk_i, mac_rst_i)
  `ASSERT(OfferStays, tx_valid_o && !tx_ready_i |=> tx_valid_o, mac_clk_i, mac_rst_i)
endmodule

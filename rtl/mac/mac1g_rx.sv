// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames from a 1G MAC into the bus clock domain, in words of 64 bits, bad ones marked (direct-router paper, section III).
///
/// The MAC cannot wait: a byte in each MAC clock is taken. Cut-through: a word leaves about 4 bus clocks after its last byte.
/// A frame that turns out bad (FCS error, runt, longer than `max_frame_i`, FIFO full in the middle) ends with `err`, an
/// oversize one at the word that makes it so: whoever stores frames erases it. A frame that finds the FIFO full at its
/// start never leaves. `count_o` tells each frame's fate once. One word a bus clock out; `frame` may stall for as long as
/// the FIFO has room. Reset loses what is inside; both resets together.
module mac1g_rx
  import eth_pkg::*;
#(
    parameter int Depth = 64  // words between the clocks, a power of two from 8
) (
    // MAC clock domain.
    input logic       mac_clk_i,
    input logic       mac_rst_i,
    input logic       rx_valid_i,
    input byte_beat_t rx_i,

    // Bus clock domain.
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic          [13:0] max_frame_i,  // without FCS
           stream_if.src         frame,        // word_beat_t
    output mac_rx_count_t        count_o
);
  if (Depth < 8) begin : g_bad_parameter
    $fatal(1, "mac1g_rx: Depth %0d is below 8", Depth);
  end
  localparam int CountW = $clog2(Depth) + 1;

  typedef enum logic [1:0] {
    Word = 2'd0,
    Cut  = 2'd1,  // no room for the rest of this frame
    Lost = 2'd2   // data[15:0] frames were lost whole
  } kind_e;
  typedef struct packed {
    kind_e      kind;
    word_beat_t word;
  } entry_t;

  // MAC side: bytes to words.
  logic [55:0] bytes_q;
  logic [2:0] lane_q;
  logic first_q;  // no word of this frame is complete yet
  wire [2:0] lane = rx_i.sop ? 3'd0 : lane_q;
  wire word_done = rx_valid_i && (lane == 3'd7 || rx_i.eop);
  word_beat_t word;
  always_comb begin
    word = '0;
    if (word_done) begin
      word.data = {8'd0, bytes_q};
      word.data[{lane, 3'd0}+:8] = rx_i.data;
      word.len = 4'(lane) + 4'd1;
      word.sop = first_q || rx_i.sop;
      word.eop = rx_i.eop;
      word.err = rx_i.eop && rx_i.err;
    end
  end

  always_ff @(posedge mac_clk_i) begin
    if (rx_valid_i) begin
      lane_q <= word_done ? 3'd0 : lane + 1'b1;
      if (word_done) bytes_q <= '0;
      else bytes_q[{lane, 3'd0}+:8] <= rx_i.data;
      first_q <= rx_i.eop || ((first_q || rx_i.sop) && !word_done);
    end
    if (mac_rst_i) begin
      bytes_q <= '0;
      lane_q  <= 3'd0;
      first_q <= 1'b1;
    end
  end

  // Then across: the fill level decides before each push. The last places are kept for a Cut.
  `STREAM_ON(entry_t, cross_in, mac_clk_i, mac_rst_i)
  `STREAM(entry_t, cross_out)
  logic [CountW-1:0] level;
  fifo_async #(
      .T(entry_t),
      .Depth(Depth)
  ) i_cross (
      .wclk_i (mac_clk_i),
      .wrst_i (mac_rst_i),
      .in     (cross_in),
      .count_o(level),
      .rclk_i (clk_i),
      .rrst_i (rst_i),
      .out    (cross_out)
  );

  wire may_start = level <= CountW'(Depth - 3);
  wire may_go_on = level < CountW'(Depth - 1);
  logic skip_q, skip_d;
  logic [15:0] lost_q, lost_d;

  always_comb begin
    cross_in.valid = 1'b0;
    cross_in.data.kind = Word;
    cross_in.data.word = word;
    skip_d = skip_q;
    lost_d = lost_q;
    if (word_done) begin
      if (word.sop) begin
        cross_in.valid = may_start;
        skip_d = !may_start && !word.eop;
        if (!may_start && lost_q != '1) lost_d = lost_q + 1'b1;
      end else if (skip_q) begin
        skip_d = !word.eop;
      end else begin
        cross_in.valid = 1'b1;
        if (!may_go_on) begin
          cross_in.data.kind = Cut;
          skip_d = !word.eop;
        end
      end
    end else if (lost_q != '0 && may_start) begin
      // The news of lost frames goes along in the first clock without a word.
      cross_in.valid = 1'b1;
      cross_in.data.kind = Lost;
      cross_in.data.word.data[15:0] = lost_q;
      lost_d = '0;
    end
  end

  always_ff @(posedge mac_clk_i) begin
    skip_q <= skip_d;
    lost_q <= lost_d;
    if (mac_rst_i) begin
      skip_q <= 1'b0;
      lost_q <= '0;
    end
  end

  // Bus side.
  entry_t               head;
  logic          [11:0] words_q;  // of the frame so far
  logic                 swallow_q;  // the rest of an oversize frame
  logic          [15:0] unreported_q;  // lost frames not yet told on count_o
  mac_rx_count_t        count_d;
  assign head = cross_out.data;

  wire [15:0] bytes = 16'({words_q, 3'd0}) + 16'(head.word.len);
  wire oversize = bytes > 16'(max_frame_i);
  wire runt = head.word.eop && bytes < 16'(MinFrame);
  wire cut = head.kind == Cut;
  wire hidden = head.kind == Lost || swallow_q;

  assign frame.valid = cross_out.valid && !hidden;
  assign frame.data = '{
          data: head.word.data,
          len: head.word.len,
          sop: head.word.sop,
          eop: head.word.eop || cut || oversize,
          err: cut || oversize || runt || head.word.err
      };
  assign cross_out.ready = hidden || frame.ready;

  wire pop = cross_out.valid && cross_out.ready;
  wire moved = frame.valid && frame.ready;

  always_comb begin
    count_d = '0;
    if (moved && frame.data.eop) begin
      if (cut) count_d.fifo_full = 1'b1;
      else if (oversize) count_d.oversize = 1'b1;
      else if (runt) count_d.runt = 1'b1;
      else if (head.word.err) count_d.bad_fcs = 1'b1;
      else count_d.good = 1'b1;
    end
    // Lost frames wait for a clock in which no other frame is told of as lost.
    if (!count_d.fifo_full && unreported_q != '0) count_d.fifo_full = 1'b1;
  end
  wire report_lost = count_d.fifo_full && !(moved && cut);

  always_ff @(posedge clk_i) begin
    count_o <= count_d;
    if (moved) words_q <= frame.data.eop ? '0 : words_q + 1'b1;
    if (moved && !cut && oversize) swallow_q <= !head.word.eop;
    else if (pop && head.kind != Lost && (head.word.eop || cut)) swallow_q <= 1'b0;
    unreported_q <= unreported_q - 16'(report_lost)
        + ((pop && head.kind == Lost) ? head.word.data[15:0] : 16'd0);
    if (rst_i) begin
      count_o <= '0;
      words_q <= '0;
      swallow_q <= 1'b0;
      unreported_q <= '0;
    end
  end

  `ASSERT(RoomIsKept, cross_in.valid |-> cross_in.ready, mac_clk_i, mac_rst_i)
  `ASSERT(StartMarked, rx_valid_i |-> rx_i.sop == (first_q && lane_q == 3'd0), mac_clk_i, mac_rst_i)
endmodule

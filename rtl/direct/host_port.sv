// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
`include "assert.svh"
/// The way of a card's frames through a NIC's port: frames for the host go in as the port's MAC would bring them, what the host sends
/// comes out (cmac_pkg, all in one clock).
///
/// To the port: a frame at a time, of the lowest class that has one; a word a clock, a beat with its last word, a clock late. The port
/// cannot wait, so this side is always ready; where a time stamp would be stands the frame's class, for the port to steer by
/// (rx_parse). From the port: a beat is taken a word a clock; the frame is kept here until it is whole, for its length goes before it,
/// then handed on in stored form under back-pressure, class 0 in its header. One begins when there is room for the longest, two clocks behind the one before. One that the port gave up (`tuser`) is
/// dropped. Reset, which the port has too, forgets what is inside.
module host_port
  import direct_pkg::*, route_pkg::*;
  import eth_pkg::*;
  import cmac_pkg::*;
#(
    parameter int Classes = 2,
    parameter int Bytes   = 18456,  // held from the port: two of the longest, at least
    parameter int Longest = 9216    // frame, without FCS
) (
    input logic clk_i,
    input logic rst_i,

    // Frames in stored form (stored_word_t).
    stream_if.snk in [Classes],
    stream_if.src out,

    // The port's MAC side; `rx` is to it.
    input  cmac_out_t port_i,
    output cmac_in_t  port_o,

    // High a clock for each frame: to the host, from it.
    output logic to_host_o,
    output logic from_host_o
);
  localparam int ClassW = Classes > 1 ? $clog2(Classes) : 1;
  localparam int Lanes = FrameBeatBytes / 8;
  localparam int LaneW = $clog2(Lanes);
  localparam int LongestWords = 1 + (Longest + 7) / 8;
  if (Classes < 1 || Classes > MaxClasses || Bytes < 16 * LongestWords) begin : g_bad_parameter
    $fatal(
        1, "host_port: Classes %0d is not 1 ... 4, or Bytes %0d are no two frames", Classes, Bytes
    );
  end

  // ---------------------------------------------------------------- to the port
  logic [Classes-1:0] valid, taken;
  stored_word_t words[Classes];
  for (genvar c = 0; c < Classes; c++) begin : g_class
    assign valid[c] = in[c].valid;
    assign words[c] = in[c].data;
    assign in[c].ready = taken[c];
  end
  logic inside_q;  // a frame's header was taken
  logic [ClassW-1:0] cls_q, cls;
  always_comb begin
    cls = inside_q ? cls_q : '0;
    if (!inside_q) for (int c = Classes - 1; c >= 0; c--) if (valid[c]) cls = ClassW'(c);
    taken = '0;
    taken[cls] = valid[cls];
  end
  stored_word_t   word;
  packet_header_t header;
  assign word   = words[cls];
  assign header = word.data;
  wire moves = valid[cls];

  logic [LaneW-1:0] lane_q, end_q;  // the word's; the last byte's
  logic rx_valid_q, rx_last_q;
  logic [8*FrameBeatBytes-1:0] rx_data_q;
  logic [FrameBeatBytes-1:0] rx_keep_q;
  logic [ClassW-1:0] rx_cls_q;
  wire ends_beat = moves && inside_q && (word.last || &lane_q);
  always_ff @(posedge clk_i) begin
    rx_valid_q <= ends_beat;
    // Any word, where none moves: the beat is looked at with the last one of its own.
    rx_data_q[64*lane_q+:64] <= word.data;
    // Of the last word, bytes 0 ... end_q; 0 stands for a whole one.
    for (int l = 0; l < Lanes; l++)
    rx_keep_q[8*l+:8] <= 3'(l) < lane_q ? 8'hff : 3'(l) > lane_q ? 8'h00 :
        word.last && end_q != '0 ? ~(8'hff << end_q) : 8'hff;
    rx_last_q <= word.last;
    if (moves) begin
      inside_q <= !inside_q || !word.last;
      lane_q   <= inside_q ? lane_q + 1'b1 : '0;
      cls_q    <= cls;
      rx_cls_q <= cls;
      if (!inside_q) end_q <= header.bytes[LaneW-1:0];
    end
    if (rst_i) begin
      rx_valid_q <= 1'b0;
      inside_q   <= 1'b0;
    end
  end
  assign to_host_o = moves && inside_q && word.last;
  wire unused_header = &{1'b0, header};

  // ---------------------------------------------------------------- from the port
  frame_read_if #(.Queues(1)) read ();
  frame_write_t write_q;
  logic open_q, room_q, unused_dropped;
  logic [1:0] wait_q;  // until room_q knows of the frame before
  logic [LaneW-1:0] tx_lane_q;
  logic [10:0] beats_q;  // of the frame, before this one
  logic [6:0] length;  // of the beat
  always_comb begin
    length = '0;
    for (int i = 0; i < FrameBeatBytes; i++) if (port_i.tx.tkeep[i]) length = 7'(i + 1);
  end
  wire puts = port_i.tx.tvalid && (open_q || (room_q && wait_q == '0));
  wire tx_last = 7'({tx_lane_q, 3'd7}) >= length - 7'd1;  // word of the beat
  wire ends = puts && tx_last && port_i.tx.tlast;
  always_ff @(posedge clk_i) begin
    write_q <= '{
        valid: puts && !(ends && port_i.tx.tuser),
        data: port_i.tx.tdata[64*tx_lane_q+:64],
        last: ends,
        bytes: 16'({beats_q, 6'd0}) + 16'(length),
        abort: (puts && !open_q) || (ends && port_i.tx.tuser)
    };
    room_q <= 13'(read.used[0]) + 13'(LongestWords) <= 13'(Bytes / 8);
    if (wait_q != '0) wait_q <= wait_q - 2'd1;
    if (ends) wait_q <= 2'd2;
    if (puts) begin
      open_q <= !ends;
      tx_lane_q <= tx_last ? '0 : tx_lane_q + 1'b1;
      if (tx_last) beats_q <= port_i.tx.tlast ? '0 : beats_q + 1'b1;
    end
    if (rst_i) begin
      write_q.valid <= 1'b0;
      write_q.abort <= 1'b1;
      wait_q <= 2'd2;
      open_q <= 1'b0;
      tx_lane_q <= '0;
      beats_q <= '0;
    end
  end
  frame_queues #(
      .Queues(1),
      .Bytes(Bytes),
      .MinBytes(1)
  ) i_queue (
      .clk_i,
      .rst_i,
      .write_i(write_q),
      .write_queue_i(1'b0),
      .accepted_o(from_host_o),
      .dropped_o(unused_dropped),
      .read
  );
  frame_reader i_reader (
      .clk_i,
      .rst_i,
      .read,
      .out
  );

  always_comb begin
    port_o = '{default: '0};
    port_o.rx.tvalid = rx_valid_q;
    port_o.rx.tdata = rx_data_q;
    port_o.rx.tkeep = rx_keep_q;
    port_o.rx.tlast = rx_last_q;
    port_o.rx_ptp_tstamp = cmac_time_t'(rx_cls_q);
    port_o.tx_tready = puts && tx_last;
  end

  `ASSERT(HeaderFirst, moves && !inside_q |-> header.kind == Packet && !word.last)
  `ASSERT(WhatBeganFits, !unused_dropped)
endmodule

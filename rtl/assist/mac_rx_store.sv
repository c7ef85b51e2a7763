// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The memory clock's half of the MAC receive assist: frames of the buffer into slots of the frame memory.
///
/// Takes a frame and a slot, asks the bus for one burst and moves the words, one a clock without a gap; the next frame's
/// request goes out meanwhile. `freed_o` is high for a clock for each word that left the buffer; `stored` gives the length of
/// each frame when the bus took its last word. `starved_o`: a frame waits because there is no slot. Reset forgets all.
module mac_rx_store
  import dram_pkg::*;
#(
    parameter  int Words = 256,
    localparam int WordW = $clog2(Words)
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk frame,  // logic [11:0]: length
    stream_if.snk slot,  // logic [31:0]: address, a multiple of 16
    output logic starved_o,

    // Buffer.
    output logic             re_o,
    output logic [WordW-1:0] raddr_o,
    input  logic [    127:0] rdata_i,
    output logic             freed_o,

    stream_if.src req,    // bus_req_t
    stream_if.src wdata,  // bus_wdata_t
    stream_if.src stored  // logic [11:0]: length
);
  typedef logic [11:0] len_t;
  `STREAM(len_t, moving_in)
  `STREAM(len_t, moving)

  // Requests.
  len_t len;
  logic [31:0] address;
  assign len = frame.data;
  assign address = slot.data;
  wire [11:0] last_byte = len - 1'b1;
  wire unused = &{1'b0, address[31:FrameAddrW], address[3:0], last_byte[3:0]};
  assign starved_o = frame.valid && !slot.valid;
  assign req.valid = frame.valid && slot.valid && moving_in.ready;
  assign req.data  = '{write: 1'b1, addr: address[FrameAddrW-1:4], beats: last_byte[11:4] + 8'd1};
  wire asks = req.valid && req.ready;
  assign frame.ready = asks;
  assign slot.ready = asks;
  assign moving_in.valid = asks;
  assign moving_in.data = len;

  `FIFO(len_t, 4, i_moving, moving_in, moving)

  // Words. `left_q`: asked for but not yet read of the buffer; the RAM's output is the word that the bus sees.
  logic [WordW-1:0] read_q;
  logic [8:0] left_q;
  logic shown_q;
  logic [7:0] word_q;
  wire [11:0] last_moving = moving.data - 1'b1;
  wire last = word_q == last_moving[11:4];
  wire go = wdata.valid && wdata.ready;
  assign re_o = left_q != '0 && (!shown_q || go);
  assign raddr_o = read_q;
  assign wdata.valid = shown_q && moving.valid && stored.ready;
  assign wdata.data = '{
          data: rdata_i,
          strb: last ? 16'hffff >> (4'd15 - last_moving[3:0]) : 16'hffff
      };
  assign moving.ready = go && last;
  assign stored.valid = go && last;
  assign stored.data = moving.data;

  always_ff @(posedge clk_i) begin
    if (re_o) read_q <= read_q + 1'b1;
    if (asks || re_o) left_q <= left_q + (asks ? 9'(last_byte[11:4]) + 1'b1 : '0) - 9'(re_o);
    if (re_o) shown_q <= 1'b1;
    else if (go) shown_q <= 1'b0;
    if (go) word_q <= last ? '0 : word_q + 1'b1;
    freed_o <= re_o;
    if (rst_i) begin
      read_q  <= '0;
      left_q  <= '0;
      shown_q <= 1'b0;
      word_q  <= '0;
      freed_o <= 1'b0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Reads parts from the frame memory: bursts on the bus, beats of `Words` words of 16 bytes back (core-nic paper, section 4).
///
/// A part is given only when there is room for all its words: they come without back-pressure, a beat a clock, from the word
/// with its first byte to that with its last one (`last_o`), in the order of the parts. Up to `Depth` parts are asked for
/// ahead of their data. A part of more than 128 words is two bursts. Reset forgets all.
module frame_memory_reader
  import dram_pkg::*;
#(
    parameter int Words = 1,  // 1, or as many as the controller moves in a clock
    parameter int Depth = 8
) (
    input  logic         clk_i,
    input  logic         rst_i,
           stream_if.snk part,      // local_part_t
           stream_if.src req,       // bus_req_t
    input  logic         rvalid_i,
    output logic         last_o     // the beat that comes now is the last one of its part
);
  typedef logic [7:0] words_t;
  `STREAM(words_t, words_in)
  `STREAM(words_t, words_out)

  logic begun_q;
  local_part_t now;
  assign now = part.data;
  wire [11:0] last_byte = now.len - 1'b1 + 12'(now.addr[3:0]);
  wire [7:0] words = last_byte[11:4];  // less one
  wire two = words[7];
  wire unused = &{1'b0, now.addr[31:FrameAddrW], last_byte[3:0]};

  assign req.valid = part.valid && words_in.ready;
  assign req.data = '{
          write: 1'b0,
          addr: now.addr[FrameAddrW-1:4] + (begun_q ? (FrameAddrW - 4)'(128) : '0),
          beats: begun_q ? 8'(words[6:0]) + 8'd1 : two ? 8'd128 : words + 8'd1
      };
  // Known before its first word can come: with the first request.
  assign words_in.valid = part.valid && req.ready && !begun_q;
  assign words_in.data = words;
  assign part.ready = words_in.ready && req.ready && (!two || begun_q);

  always_ff @(posedge clk_i) begin
    if (req.valid && req.ready) begun_q <= two && !begun_q;
    if (rst_i) begun_q <= 1'b0;
  end

  `FIFO(words_t, Depth, i_words, words_in, words_out)

  logic [7:0] beat_q;
  assign last_o = beat_q == words_out.data >> $clog2(Words);
  assign words_out.ready = rvalid_i && last_o;
  always_ff @(posedge clk_i) begin
    if (rvalid_i) beat_q <= last_o ? '0 : beat_q + 1'b1;
    if (rst_i) beat_q <= '0;
  end

  `ASSERT(PartOfGoodSize, part.valid |-> now.len inside {[1 : MaxPart]})
  `ASSERT(WordsAreExpected, rvalid_i |-> words_out.valid)
endmodule

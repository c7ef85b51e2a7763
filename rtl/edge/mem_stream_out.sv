// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Streams of a memory port out to the static network, in the order of their set-ups.
///
/// Reads a word from the DRAM as long as there is room for it (`Words`), so that `word_i` never has to wait; one word a clock, one
/// lost between streams. Reset drops everything.
module mem_stream_out
  import mesh_pkg::*;
#(
    parameter int Words = 64
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk set_up,  // stream_set_up_t
    stream_if.src out,

    // DRAM: a word for each address taken, in order.
          stream_if.src ask,           // word_t: byte address
    input logic         word_valid_i,
    input word_t        word_i
);
  localparam int CountW = $clog2(Words + 1);
  logic [15:0] left_q;
  word_t address_q;
  logic [CountW-1:0] reserved_q;  // words between DRAM and network
  wire asked = ask.valid && ask.ready;
  assign ask.valid = left_q != '0 && reserved_q != CountW'(Words);
  assign ask.data = address_q;
  assign set_up.ready = left_q == '0;

  `STREAM(word_t, word)
  assign word.valid = word_valid_i;
  assign word.data  = word_i;
  `FIFO(word_t, Words, i_words, word, out)

  always_ff @(posedge clk_i) begin
    if (set_up.valid && set_up.ready) begin
      left_q <= set_up.data.words;
      address_q <= set_up.data.address;
    end else if (asked) begin
      left_q <= left_q - 1'b1;
      address_q <= address_q + 32'd4;
    end
    reserved_q <= reserved_q + CountW'(asked) - CountW'(out.valid && out.ready);
    if (rst_i) begin
      left_q <= '0;
      reserved_q <= '0;
    end
  end

  `ASSERT(RoomForWhatWasRead, !(word.valid && !word.ready))
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Answers the reads of a memory port, in their order: reads the words from the DRAM, sends header and words over the MDN.
///
/// `read` (mem_read_t, `ReadQueue` wait; of `len` 0 an error without words) is taken while fewer than `max_reads_i` (0: one) are
/// between DRAM and network and there is room for its words, so that `word_i` never has to wait. One word a clock each way, none
/// lost between messages. Reset drops everything.
module mem_answers
  import mesh_pkg::*;
#(
    parameter int ReadQueue  = 64,
    parameter int ReplyWords = 256
) (
    input logic       clk_i,
    input logic       rst_i,
    input logic [3:0] max_reads_i,

    stream_if.snk read,  // mem_read_t
    stream_if.src out,   // MDN

    // DRAM: a word for each address taken, in order.
          stream_if.src ask,           // word_t: byte address
    input logic         word_valid_i,
    input word_t        word_i
);
  `STREAM(mem_read_t, next)
  `FIFO(mem_read_t, ReadQueue, i_reads, read, next)

  // The message at hand.
  logic [4:0] left_q, waiting_q;  // words to be read; messages not answered yet
  logic  [8:0] reserved_q;  // words of answers between read and network
  word_t       address_q;
  `STREAM(word_t, header_in)
  `STREAM(word_t, header)
  wire asked = ask.valid && ask.ready;
  wire [4:0] limit = max_reads_i == '0 ? 5'd1 : 5'(max_reads_i);
  wire [4:0] words = next.data.header.len;
  wire take = next.valid && (left_q == '0 || left_q == 5'd1 && asked) && header_in.ready &&
      waiting_q < limit && reserved_q + 9'(words) <= 9'(ReplyWords);
  assign next.ready = take;
  assign header_in.valid = take;
  assign header_in.data = next.data.header;
  assign ask.valid = left_q != '0;
  assign ask.data = address_q;

  // Headers in order, words as they come.
  link_fifo #(
      .Depth(16)
  ) i_headers (
      .clk_i,
      .rst_i,
      .in    (header_in),
      .out   (header),
      .room_o()
  );
  `STREAM(word_t, word_in)
  `STREAM(word_t, word)
  assign word_in.valid = word_valid_i;
  assign word_in.data  = word_i;
  `FIFO(word_t, ReplyWords, i_words, word_in, word)
  wire header_t answer = header_t'(header.data);
  logic [4:0] answer_left_q;  // words to come after the header that has left
  wire at_header = answer_left_q == '0;
  wire moved = out.valid && out.ready;
  wire answered = moved && (answer_left_q == 5'd1 || at_header && answer.len == '0);
  assign out.valid = at_header ? header.valid && (word.valid || answer.len == '0) : word.valid;
  assign out.data = at_header ? header.data : word.data;
  assign header.ready = moved && at_header;
  assign word.ready = moved && !at_header;

  always_ff @(posedge clk_i) begin
    if (take) begin
      left_q <= words;
      address_q <= next.data.address;
    end else if (asked) begin
      left_q <= left_q - 1'b1;
      address_q <= address_q + 32'd4;
    end
    if (moved) answer_left_q <= at_header ? answer.len : answer_left_q - 1'b1;
    waiting_q  <= waiting_q + 5'(take) - 5'(answered);
    reserved_q <= reserved_q + (take ? 9'(words) : '0) - 9'(word.ready);
    if (rst_i) begin
      left_q <= '0;
      answer_left_q <= '0;
      waiting_q <= '0;
      reserved_q <= '0;
    end
  end

  `ASSERT(RoomForWhatWasRead, !(word_in.valid && !word_in.ready))
endmodule

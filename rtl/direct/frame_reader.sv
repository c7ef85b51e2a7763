// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Takes the frames of a `frame_queues` of one queue out one by one, in stored form: packet header, then data words.
///
/// Within a frame one word a clock, full back-pressure; 4 clocks from frame to frame. A frame's room is free again when its
/// last word has left. Reset starts with the oldest frame.
module frame_reader
  import direct_pkg::*, route_pkg::*;
#(
    parameter class_t Class = '0  // written into the headers
) (
    input logic                clk_i,
    input logic                rst_i,
          frame_read_if.reader read,
          stream_if.src        out     // stored_word_t
);
  typedef enum logic [2:0] {
    Idle,
    Length,
    Wait,
    Header,
    Data
  } state_e;
  state_e state_q;
  words_t words_q, left_q;  // of the frame; still to be read
  logic have_q;  // the RAM shows a word that has not left

  wire packet_header_t header = '{kind: Packet, unused: '0, cls: Class, bytes: read.bytes};
  wire words_t words = words_t'((17'(read.bytes) + 17'd7) >> 3);
  wire last = left_q == '0;
  wire done = state_q == Data && have_q && last && out.ready;

  assign out.valid = state_q == Header || have_q;
  assign out.data = '{
          data: state_q == Header ? header : read.word,
          last: state_q == Data && last
      };

  // The next word is read when the one before it leaves, the first with the header.
  assign read.next_word = state_q == Header ? out.ready : (state_q == Data && !last && out.ready);
  assign read.queue = '0;
  assign read.load = state_q == Idle;
  assign read.next_bytes = state_q == Length;
  assign read.free = done;
  assign read.free_packets = words_t'(1);
  assign read.free_words = words_q + 1'b1;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle:   if (read.used[0] != '0) state_q <= Length;
      Length: state_q <= Wait;
      Wait: begin
        words_q <= words;
        left_q  <= words;
        state_q <= Header;
      end
      Header:
      if (out.ready) begin
        left_q  <= left_q - 1'b1;
        have_q  <= 1'b1;
        state_q <= Data;
      end
      default: begin
        if (out.ready) begin
          have_q <= !last;
          left_q <= left_q - 1'b1;
        end
        if (done) state_q <= Idle;
      end
    endcase
    if (rst_i) begin
      state_q <= Idle;
      have_q  <= 1'b0;
    end
  end

  `ASSERT(NoGap, state_q != Data || have_q)
endmodule

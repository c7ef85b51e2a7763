// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Input linecard: takes frames from the wire, sends the head of each to the tiles and its payload where the settings
/// say (`in_settings_t`; linecard has a table of the router's versions).
///
/// Frames are stored whole (line_buffer: when that is full the wire stalls). Then frame_sender sends what goes with a frame and
/// its head, payload_sender the payload beyond 16 words (8, with `early`), one word a clock; or the payload stays in the buffer
/// until it has been read or is given up by messages (`buffer_in`, `answers`). All leave through one FIFO: a network that does
/// not take its word holds up the others. Counts frames taken from the buffer; too long ones, dropped, and malformed messages.
module line_in
  import mesh_pkg::*;
#(
    parameter int Slots = 32,
    parameter int SlotWords = 512,
    parameter int Window = 6  // frame_sender
) (
    input logic         clk_i,
    input logic         rst_i,
    input place_t       place_i,
    input in_settings_t settings_i,
    input head_places_t heads_i,
    input word_t        ring_base_i,
    input word_t        ring_bytes_i,

          stream_if.snk wire_in,    // wire_beat_t
    input logic         written_i,  // the memory has what was sent to it by WriteLast
    input logic         credit_i,   // with `heads`: the tiles are through with one more head
          stream_if.snk buffer_in,
          stream_if.src answers,
          stream_if.src heads,      // GDN
          stream_if.src mdn_out,
          stream_if.src st_out,

    output word_t frames_o,
    output word_t bad_o
);
  localparam int SlotW = $clog2(Slots);
  localparam int IndexW = $clog2(SlotWords);
  typedef logic [SlotW+15:0] stored_t;
  `STREAM(stored_t, frame)
  `STREAM(line_word_t, head)
  `STREAM(line_word_t, payload)

  logic turn, turn_done, done, keep, done_ready;
  logic [SlotW-1:0] slot;
  logic [IndexW:0] first, words, end_of_frame;
  word_t address;
  frame_sender #(
      .Slots    (Slots),
      .SlotWords(SlotWords),
      .Window   (Window)
  ) i_head (
      .clk_i,
      .rst_i,
      .place_i,
      .settings_i,
      .heads_i,
      .ring_base_i,
      .ring_bytes_i,
      .credit_i,
      .frame,
      .out         (head),
      .turn_o      (turn),
      .turn_done_i (turn_done),
      .first_o     (first),
      .words_o     (words),
      .end_o       (end_of_frame),
      .address_o   (address),
      .slot_o      (slot),
      .done_o      (done),
      .keep_o      (keep),
      .done_ready_i(done_ready),
      .frames_o
  );
  payload_sender #(
      .IndexW(IndexW)
  ) i_payload (
      .clk_i,
      .rst_i,
      .place_i,
      .memory_i (settings_i.memory),
      .form_i   (payload_form(settings_i.payload)),
      .turn_i   (turn),
      .done_o   (turn_done),
      .first_i  (first),
      .words_i  (words),
      .end_i    (end_of_frame),
      .address_i(address),
      .written_i,
      .out      (payload)
  );

  // A word leaves when there is room for it and, if it is in the buffer, no answer has that.
  logic busy, room;
  line_word_t word;
  assign word = turn ? payload.data : head.data;
  wire sends = (turn ? payload.valid : head.valid) && room && !(word.stored && busy);
  assign head.ready = sends && !turn;
  assign payload.ready = sends && turn;

  logic [1:0] bad;
  word_t stored_word;
  line_buffer #(
      .Slots    (Slots),
      .SlotWords(SlotWords)
  ) i_buffer (
      .clk_i,
      .rst_i,
      .place_i,
      .wire_in,
      .frame,
      .in          (buffer_in),
      .answers,
      .rd_valid_i  (sends && word.stored),
      .rd_addr_i   ({slot, word.word[IndexW-1:0]}),
      .rd_data_o   (stored_word),
      .busy_o      (busy),
      .done_i      (done),
      .keep_i      (keep),
      .done_slot_i (slot),
      .done_ready_o(done_ready),
      .bad_o       (bad)
  );

  // One clock later the stored word is there.
  typedef struct packed {
    line_to_e to;
    word_t    word;
  } leaving_t;
  `STREAM(leaving_t, leave_in)
  `STREAM(leaving_t, leave_out)
  logic leave_q;
  line_word_t word_q;
  logic [3:0] leave_count;
  assign leave_in.valid = leave_q;
  assign leave_in.data = '{to: word_q.to, word: word_q.stored ? stored_word : word_q.word};
  assign room = leave_count + 4'(leave_q) < 4'd8;
  fifo #(
      .T(leaving_t),
      .Depth(8)
  ) i_leave_fifo (
      .clk_i,
      .rst_i,
      .in(leave_in),
      .out(leave_out),
      .count_o(leave_count)
  );
  assign st_out.valid = leave_out.valid && leave_out.data.to == ToStatic;
  assign heads.valid = leave_out.valid && leave_out.data.to == ToHeads;
  assign mdn_out.valid = leave_out.valid && leave_out.data.to == ToMdn;
  assign st_out.data = leave_out.data.word;
  assign heads.data = leave_out.data.word;
  assign mdn_out.data = leave_out.data.word;
  assign leave_out.ready = st_out.valid ? st_out.ready : heads.valid ? heads.ready : mdn_out.ready;

  always_ff @(posedge clk_i) begin
    leave_q <= sends;
    if (sends) word_q <= word;
    if (bad != '0) bad_o <= bad_o + word_t'(bad);
    if (rst_i) begin
      leave_q <= 1'b0;
      bad_o   <= '0;
    end
  end

  `ASSERT(RoomForWhatWasRead, !(leave_q && !leave_in.ready))
endmodule

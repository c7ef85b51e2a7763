// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Output linecard: gets the head of each frame from a tile (FrameOut over the GDN), fetches the rest from where the message
/// says (payload_reader), and sends the frame to the wire.
///
/// One word a clock to the wire when answers come in time; a frame may pause inside. A tile that waits for the interrupts
/// (`enable`: one each time there is room for one more frame, `Frames` fit) never sends too much; a frame that comes without room
/// is dropped and counted, so that answers behind it on the GDN get through. Without `enable` it waits. A failed read is counted.
/// Malformed messages and answers to no read are dropped and counted.
module line_out
  import mesh_pkg::*;
#(
    parameter int Frames = 4
) (
    input logic          clk_i,
    input logic          rst_i,
    input logic          run_i,
    input place_t        place_i,
    input out_settings_t settings_i,

    stream_if.snk gdn_in,
    stream_if.snk mdn_in,
    stream_if.src gdn_out,
    stream_if.src mdn_out,
    stream_if.src wire_out, // wire_beat_t

    output word_t frames_o,
    output word_t bad_o
);
  localparam int Slots = 8;  // payload_reader
  localparam int CountW = $clog2(Frames + 1);

  // Words of a frame of so many bytes; a short one has those of a head.
  function automatic logic [15:0] whole(logic [15:0] bytes);
    return bytes > 16'(4 * HeadWords - 2) ? (bytes + 16'd5) >> 2 : 16'(HeadWords);
  endfunction

  // Messages over the GDN and the MDN: heads, words of answers.
  logic [1:0] valid, take, at_words_q, to_slot, error, bad;
  word_t data[2];
  header_t header_q[2];
  logic [4:0] left_q[2];
  assign valid = {mdn_in.valid, gdn_in.valid};
  assign data[0] = gdn_in.data;
  assign data[1] = mdn_in.data;
  assign gdn_in.ready = take[0];
  assign mdn_in.ready = take[1];

  logic [Slots-1:0] asked;  // places of payloads that wait for words
  logic [CountW-1:0] frames_q;  // between their FrameOut and their end

  header_t header[2];
  logic [1:0] is_answer, is_frame, is_error;
  logic drop_q;  // the FrameOut at hand
  wire  no_room = frames_q == CountW'(Frames);
  always_comb begin
    for (int n = 0; n < 2; n++) begin
      header[n] = at_words_q[n] ? header_q[n] : header_t'(data[n]);
      is_answer[n] = header[n].user[4:3] == 2'b01 && asked[header[n].user[2:0]] &&
          header[n].len != '0;
      is_error[n] = header[n].user[4:3] == 2'b10 && asked[header[n].user[2:0]];
      is_frame[n] = n == 0 && header[n].user == FrameOut && header[n].len == 5'(HeadWords + 2);
      to_slot[n] = valid[n] && at_words_q[n] && is_answer[n];
    end
    // One word a clock into the reorder buffer, the MDN first; a head waits for room.
    take[1] = 1'b1;
    take[0] = !(to_slot[0] && to_slot[1]) &&
        !(is_frame[0] && !at_words_q[0] && no_room && !settings_i.enable);
    for (int n = 0; n < 2; n++) begin
      error[n] = valid[n] && take[n] && !at_words_q[n] && is_error[n];
      bad[n] = valid[n] && take[n] && !at_words_q[n] &&
          (!(is_answer[n] || is_frame[n]) || is_frame[n] && no_room);
    end
  end

  // Heads and what is to be done with each.
  `STREAM(word_t, head_in)
  `STREAM(word_t, head_out)
  `STREAM(payload_fetch_t, fetch_in)
  `STREAM(payload_fetch_t, fetch)
  `STREAM(logic [15:0], bytes_in)
  `STREAM(logic [15:0], bytes_out)
  wire frame_word = valid[0] && take[0] && at_words_q[0] && is_frame[0] && !drop_q;
  // A frame has its place from its header on.
  wire frame_begins = valid[0] && take[0] && !at_words_q[0] && is_frame[0] && !no_room;
  wire frame_whole = frame_word && left_q[0] == 5'd1;
  frame_out_t frame_q;
  word_t address_q;
  // Words of the head that are sent; the others come with the payload.
  wire [15:0] split = settings_i.early ? 16'(EarlyWords) : 16'(HeadWords);
  assign head_in.valid = frame_word && left_q[0] <= 5'(HeadWords) && left_q[0] > 5'(HeadWords) - split[4:0];
  assign head_in.data = data[0];
  assign fetch_in.valid = frame_whole && (settings_i.early || frame_q.bytes > 16'(4 * HeadWords - 2));
  assign fetch_in.data = '{
          held: frame_q.held,
          from : frame_q.from,
          words: whole(frame_q.bytes) - split,
          address: address_q
      };
  assign bytes_in.valid = frame_whole;
  assign bytes_in.data = frame_q.bytes;
  `FIFO(word_t, HeadWords * Frames, i_heads, head_in, head_out)
  `FIFO(payload_fetch_t, Frames, i_fetches, fetch_in, fetch)
  `FIFO(logic [15:0], Frames, i_bytes_fifo, bytes_in, bytes_out)

  always_ff @(posedge clk_i) begin
    for (int n = 0; n < 2; n++) begin
      if (valid[n] && take[n]) begin
        if (!at_words_q[n]) begin
          header_q[n] <= header[n];
          left_q[n] <= header[n].len;
          at_words_q[n] <= header[n].len != '0;
        end else begin
          left_q[n] <= left_q[n] - 1'b1;
          at_words_q[n] <= left_q[n] != 5'd1;
        end
      end
    end
    if (valid[0] && take[0]) begin
      if (!at_words_q[0]) drop_q <= no_room;
      if (frame_word && left_q[0] == 5'(HeadWords + 2)) frame_q <= frame_out_t'(data[0]);
      if (frame_word && left_q[0] == 5'(HeadWords + 1)) address_q <= data[0];
    end
    if (rst_i) at_words_q <= '0;
  end

  // Payloads.
  `STREAM(word_t, payload)
  wire from = to_slot[1];
  logic [Slots-1:0] failed;
  always_comb begin
    failed = '0;
    for (int n = 0; n < 2; n++) if (error[n]) failed[header[n].user[2:0]] = 1'b1;
  end
  payload_reader i_payloads (
      .clk_i,
      .rst_i,
      .run_i,
      .place_i,
      .settings_i,
      .fetch,
      .room_i      (!no_room),
      .begins_i    (frame_begins),
      .gdn_out,
      .mdn_out,
      .asked_o     (asked),
      .word_valid_i((to_slot[1] && take[1]) || (to_slot[0] && take[0])),
      .word_slot_i (header[from].user[2:0]),
      .word_i      (data[from]),
      .failed_i    (failed),
      .out         (payload)
  );

  // To the wire.
  logic [15:0] sent_q;  // words of the frame
  wire [15:0] total = (bytes_out.data + 16'd5) >> 2;
  wire at_head = sent_q < split;
  wire beyond = sent_q >= total;  // the rest of the head of a short frame
  wire word_there = bytes_out.valid && (at_head ? head_out.valid : payload.valid);
  wire moves = word_there && (beyond || wire_out.ready);
  wire at_end = sent_q + 1'b1 == whole(bytes_out.data);
  wire [1:0] tail = bytes_out.data[1:0] + 2'd1;  // bytes in the last word, less one
  assign wire_out.data = '{
          data: at_head ? head_out.data : payload.data,
          sop: sent_q == '0,
          eop: sent_q + 1'b1 == total,
          bytes: sent_q + 1'b1 == total ? {1'b0, tail} + 3'd1 : 3'd4
      };
  assign wire_out.valid = word_there && !beyond;
  assign head_out.ready = moves && at_head;
  assign bytes_out.ready = moves && at_end;
  assign payload.ready = moves && !at_head;

  always_ff @(posedge clk_i) begin
    if (moves) sent_q <= at_end ? '0 : sent_q + 1'b1;
    if (moves && at_end) frames_o <= frames_o + 1'b1;
    frames_q <= frames_q + CountW'(frame_begins) - CountW'(moves && at_end);
    if (|bad) bad_o <= bad_o + word_t'($countones(bad));
    if (rst_i) begin
      sent_q <= '0;
      frames_q <= '0;
      frames_o <= '0;
      bad_o <= '0;
    end
  end

  `ASSERT(
      RoomForHeads,
      !(head_in.valid && !head_in.ready) && !(fetch_in.valid && !fetch_in.ready) && !(bytes_in.valid && !bytes_in.ready))
endmodule

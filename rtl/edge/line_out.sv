// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Output linecard: gets the head of each frame from a tile (FrameOut over the GDN), fetches the rest from where the message
/// says, and sends the frame to the wire.
///
/// The payload is read from a memory (over the MDN: ReadLine, or ReadDma with `dma`) or a linecard's buffer (over the MDN, or the
/// GDN with `held_gdn`: ReadDma, the last with `free`), up to `max_reads` at a time into eight places of a reorder buffer; the reads for the next frame begin
/// while the one before is sent. One word a clock to the wire when answers come in time; a frame may pause inside.
///
/// With `enable` an interrupt message (over the GDN, or with `tell_mdn` the MDN) goes to the tile each time there is room for one
/// more frame (`Frames` fit); a frame that comes without room is then dropped and counted, so that answers behind it on the
/// GDN get through. Without `enable` it waits. A failed read is counted, and leaves its words in the frame as they are.
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
  localparam int Slots = 8;
  localparam int SlotWords = 32;
  localparam int CountW = $clog2(Frames + 1);

  typedef struct packed {
    frame_out_t frame;
    word_t      address;
  } fetch_t;

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

  logic [4:0] due_q[Slots];  // words each place waits for
  logic [Slots-1:0] asked_q;
  logic [CountW-1:0] frames_q;  // between their FrameOut and their end

  header_t header[2];
  logic [1:0] is_answer, is_frame, is_error;
  logic drop_q;  // the FrameOut at hand
  wire  no_room = frames_q == CountW'(Frames);
  always_comb begin
    for (int n = 0; n < 2; n++) begin
      header[n] = at_words_q[n] ? header_q[n] : header_t'(data[n]);
      is_answer[n] = header[n].user[4:3] == 2'b01 && asked_q[header[n].user[2:0]] &&
          header[n].len != '0;
      is_error[n] = header[n].user[4:3] == 2'b10 && asked_q[header[n].user[2:0]];
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
  `STREAM(fetch_t, fetch_in)
  `STREAM(fetch_t, fetch)
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
  assign fetch_in.data = '{frame: frame_q, address: address_q};
  assign bytes_in.valid = frame_whole;
  assign bytes_in.data = frame_q.bytes;
  `FIFO(word_t, HeadWords * Frames, i_heads, head_in, head_out)
  `FIFO(fetch_t, Frames, i_fetches, fetch_in, fetch)
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

  // Requests: an interrupt, or the next read of the frame at hand.
  typedef enum logic [1:0] {
    AtHeader,
    AtAddress,
    AtLength
  } state_e;
  state_e state_q;
  logic reading_q;  // a frame is at hand
  logic [15:0] to_read_q;  // words of it
  word_t read_at_q;
  logic [2:0] slot_q;  // the next place
  logic [3:0] used_q, asked;  // places in use, places that wait for words
  always_comb asked = 4'($countones(asked_q));
  logic told_q;  // an interrupt went for the room there is

  wire held = fetch.data.frame.held;
  wire by_gdn = held && settings_i.held_gdn;
  wire dma = held || settings_i.dma;
  wire [4:0] most = !dma ? 5'(LineWords) : settings_i.words == '0 ? 5'(LineWords) : settings_i.words;
  wire [4:0] words = to_read_q < 16'(most) ? to_read_q[4:0] : most;
  wire last = to_read_q <= 16'(most);
  wire [3:0] limit = settings_i.max_reads == '0 ? 4'd1 : settings_i.max_reads;
  wire ask = reading_q && (state_q != AtHeader || (used_q != 4'(Slots) && asked < limit));
  // What is offered at the beginning of a message stays: an interrupt, or a read.
  logic telling_q, asking_q;
  wire tell = telling_q || (!asking_q && state_q == AtHeader && settings_i.enable && run_i && !told_q && !no_room);
  dma_length_t length;
  assign length = '{free: held && last, reserved: '0, tag: slot_q, words: words};

  word_t request;
  always_comb begin
    case (state_q)
      AtHeader: begin
        request = tell ? {Interrupt, place_i, 5'd0, settings_i.tile} :
            {dma ? ReadDma : ReadLine, place_i, dma ? 5'd2 : 5'd1, fetch.data.frame.from};
      end
      AtAddress: request = dma ? read_at_q : read_at_q | word_t'(slot_q);
      default:   request = length;
    endcase
  end
  wire use_gdn = tell ? !settings_i.tell_mdn : by_gdn;
  assign gdn_out.valid = (tell || ask) && use_gdn;
  assign gdn_out.data  = request;
  assign mdn_out.valid = (tell || ask) && !use_gdn;
  assign mdn_out.data  = request;
  wire told = tell && (use_gdn ? gdn_out.ready : mdn_out.ready);
  wire sent = !tell && ask && (by_gdn ? gdn_out.ready : mdn_out.ready);
  wire asked_now = sent && state_q == (dma ? AtLength : AtAddress);
  assign fetch.ready = asked_now && last;

  // The reorder buffer.
  word_t buffer[Slots*SlotWords];
  logic [4:0] write_at_q[Slots];
  logic [4:0] use_q[Slots];  // words of the place that belong to the frame
  logic [2:0] from_q;  // the place that is sent
  logic [4:0] send_at_q;  // the word in it
  wire from = to_slot[1];
  wire slot_write = (to_slot[1] && take[1]) || (to_slot[0] && take[0]);
  wire [2:0] write_slot = header[from].user[2:0];

  // To the wire.
  logic [15:0] sent_q;  // words of the frame
  wire [15:0] total = (bytes_out.data + 16'd5) >> 2;
  wire at_head = sent_q < split;
  wire beyond = sent_q >= total;  // the rest of the head of a short frame
  wire place_ready = used_q != '0 && (write_at_q[from_q] > send_at_q || !asked_q[from_q]);
  wire word_there = bytes_out.valid && (at_head ? head_out.valid : place_ready && send_at_q < use_q[from_q]);
  wire moves = word_there && (beyond || wire_out.ready);
  wire at_end = sent_q + 1'b1 == whole(bytes_out.data);
  wire [1:0] tail = bytes_out.data[1:0] + 2'd1;  // bytes in the last word, less one
  wire_beat_t beat;
  assign beat = '{
          data: at_head ? head_out.data : buffer[{from_q, send_at_q}],
          sop: sent_q == '0,
          eop: sent_q + 1'b1 == total,
          bytes: sent_q + 1'b1 == total ? {1'b0, tail} + 3'd1 : 3'd4
      };
  assign wire_out.valid = word_there && !beyond;
  assign wire_out.data = beat;
  assign head_out.ready = moves && at_head;
  assign bytes_out.ready = moves && at_end;
  // A place is free when its words are sent and all it was to get has come.
  wire word_sent = moves && !at_head;
  wire place_done = used_q != '0 && !asked_q[from_q] && send_at_q + 5'(word_sent) == use_q[from_q];

  always_ff @(posedge clk_i) begin
    telling_q <= tell && !told;
    asking_q  <= ask && !tell && !sent;
    if (told) told_q <= 1'b1;
    else if (frame_begins) told_q <= 1'b0;
    if (sent) begin
      state_q <= asked_now ? AtHeader : state_e'(state_q + 2'd1);
    end
    if (!reading_q) begin
      if (fetch.valid) begin
        reading_q <= 1'b1;
        to_read_q <= whole(fetch.data.frame.bytes) - split;
        read_at_q <= fetch.data.address;
      end
    end else if (asked_now) begin
      reading_q <= !last;
      to_read_q <= to_read_q - 16'(words);
      read_at_q <= read_at_q + word_t'({words, 2'b00});
      slot_q <= slot_q + 1'b1;
      asked_q[slot_q] <= 1'b1;
      due_q[slot_q] <= dma ? words : 5'(LineWords);
      use_q[slot_q] <= words;
      write_at_q[slot_q] <= '0;
    end
    if (slot_write) begin
      buffer[{write_slot, write_at_q[write_slot]}] <= data[from];
      write_at_q[write_slot] <= write_at_q[write_slot] + 1'b1;
      if (write_at_q[write_slot] + 1'b1 == due_q[write_slot]) asked_q[write_slot] <= 1'b0;
    end
    for (int n = 0; n < 2; n++) if (error[n]) asked_q[header[n].user[2:0]] <= 1'b0;
    used_q <= used_q + 4'(asked_now) - 4'(place_done);
    if (place_done) begin
      from_q <= from_q + 1'b1;
      send_at_q <= '0;
    end else if (word_sent) begin
      send_at_q <= send_at_q + 1'b1;
    end
    if (moves) sent_q <= at_end ? '0 : sent_q + 1'b1;
    if (moves && at_end) frames_o <= frames_o + 1'b1;
    frames_q <= frames_q + CountW'(frame_begins) - CountW'(moves && at_end);
    if (|bad) bad_o <= bad_o + word_t'($countones(bad));
    if (rst_i) begin
      telling_q <= 1'b0;
      asking_q <= 1'b0;
      told_q <= 1'b0;
      state_q <= AtHeader;
      reading_q <= 1'b0;
      slot_q <= '0;
      asked_q <= '0;
      used_q <= '0;
      from_q <= '0;
      send_at_q <= '0;
      sent_q <= '0;
      frames_q <= '0;
      frames_o <= '0;
      bad_o <= '0;
    end
  end

  `ASSERT(
      RoomForHeads,
      !(head_in.valid && !head_in.ready) && !(fetch_in.valid && !fetch_in.ready) && !(bytes_in.valid && !bytes_in.ready))
  `ASSERT(PlacesInUse, used_q <= 4'(Slots))
endmodule

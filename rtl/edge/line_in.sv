// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Input linecard: takes frames from the wire, sends the head of each to the tiles and puts its payload where the router
/// version wants it (`in_settings_t`).
///
/// Frames are stored whole (line_buffer: when that is full the wire stalls). Then, one word a clock: an interrupt message and the
/// set-up of a stream if wanted; the head (length, payload address if wanted, 16 words, zeros after a short frame) on
/// static network 1 or as a message to each of up to three tiles; the payload beyond 16 words (8, with `early`), by
/// `payload`: after the head as it is, or in lines with an address (and mask) in front, or as WriteLine messages, or not at
/// all: then it stays in the buffer until it has been read or is given up by messages (`buffer_in`, `answers`). Payload
/// addresses are those of a ring in memory, lines, or byte addresses in the buffer. Three clocks a frame are lost.
/// Heads leave as messages as long as the tiles give them back as credits (`credit_i`): they share the network with what the tiles say
/// to each other, and must never fill it. Counts frames taken from the buffer; too long ones, dropped, and malformed messages.
module line_in
  import mesh_pkg::*;
#(
    parameter int Slots = 32,
    parameter int SlotWords = 512,
    parameter int Window = 6  // heads on their way as messages that no tile is through with (15 at the most)
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
  typedef logic [SlotW-1:0] slot_t;
  typedef struct packed {
    slot_t       slot;
    logic [15:0] bytes;
  } stored_t;
  `STREAM(stored_t, frame)

  // The sender. What leaves goes through one FIFO, with where it goes.
  typedef enum logic [1:0] {
    ToStatic,
    ToHeads,
    ToMdn
  } to_e;
  typedef struct packed {
    to_e   to;
    word_t word;
  } leaving_t;
  typedef enum logic [3:0] {
    Idle,
    Announce,
    SetUp,
    SetUpAddress,
    SetUpWords,
    HeadTo,
    Length,
    Address,
    Head,
    LineTo,
    LineAddress,
    LineMask,
    Payload,
    Written,
    Done
  } state_e;
  state_e state_q, state_d;
  slot_t sent_slot_q;
  logic [15:0] bytes_q;
  logic [IndexW:0] total_q;  // words of the frame
  logic [IndexW:0] sent_q;  // index of the next word
  logic [1:0] place_q;  // among the tiles that get the head
  word_t payload_at_q;  // address of the payload
  word_t address_q;  // of the next line
  word_t ring_q;  // offset of the next payload

  wire [15:0] frame_words = (frame.data.bytes + 16'd5) >> 2;
  // The first word of the payload; a short frame has the words of a head.
  wire [IndexW:0] split = settings_i.early ? (IndexW + 1)'(EarlyWords) : (IndexW + 1)'(HeadWords);
  wire [15:0] least = frame_words < 16'(HeadWords) ? 16'(HeadWords) : frame_words;
  wire [15:0] frame_lines = (least - 16'(split) + 16'd7) >> 3;
  wire word_t ring_need = word_t'({frame_lines, 5'd0});
  wire word_t ring_at = ring_q + ring_need > ring_bytes_i ? '0 : ring_q;
  wire held = settings_i.payload == PayloadHeld;
  wire masked = settings_i.payload == PayloadMasked;
  wire in_lines = masked || settings_i.payload == PayloadLines;
  wire by_mdn = settings_i.payload == PayloadMdn;
  wire [IndexW:0] end_of_frame = total_q < (IndexW + 1)'(HeadWords) ? (IndexW + 1)'(HeadWords) : total_q;
  wire has_payload = end_of_frame > split;
  wire [IndexW:0] payload_words = end_of_frame - split;
  wire [IndexW-3:0] lines = (IndexW - 2)'((payload_words + (IndexW + 1)'(7)) >> 3);
  wire head_place_t head_place = heads_i.place[place_q[1]?2 : int'(place_q[0])];
  wire last_of_line = sent_q[2:0] == 3'd7;
  wire last_line = sent_q + (IndexW + 1)'(LineWords) >= end_of_frame;
  logic written_q;
  logic [3:0] credits_q;  // heads that may still leave as messages
  assign frame.ready = state_q == Idle && !(settings_i.heads && credits_q == '0);
  wire starts = frame.valid && frame.ready;
  wire is_there = sent_q < total_q;

  // Words on the static network after the head.
  logic [15:0] follow;
  always_comb begin
    follow = '0;
    case (settings_i.payload)
      PayloadStatic: follow = 16'(payload_words);
      PayloadLines: follow = 16'({lines, 3'd0}) + 16'(lines);
      PayloadMasked: follow = 16'({lines, 3'd0}) + 16'({lines, 1'b0});
      default: ;
    endcase
  end
  function automatic word_t header(logic [4:0] user, logic [4:0] len, place_t dest);
    return {user, place_i, len, dest};
  endfunction

  logic emit, from_buffer, room;
  leaving_t leaving;
  logic [LineBytes-1:0] mask;
  state_e to_payload, to_head, to_first;
  always_comb begin
    to_payload = Done;
    if (has_payload && !held && !by_mdn) to_payload = in_lines ? LineAddress : Payload;
    to_head = settings_i.heads ? HeadTo : Length;
    // Messages overtake heads: the payload goes to the memory first, and the head when it is there.
    to_first = by_mdn ? LineTo : to_head;
    mask = '0;
    for (int i = 0; i < LineWords; i++)
    if (sent_q + (IndexW + 1)'(i) < total_q) mask[4*i+:4] = 4'hf;
    state_d = state_q;
    emit = 1'b0;
    from_buffer = 1'b0;
    leaving.to = settings_i.heads ? ToHeads : ToStatic;
    leaving.word = '0;
    case (state_q)
      Idle: begin
        if (starts) begin
          if (frame_lines == '0) state_d = to_head;
          else state_d = settings_i.announce ? Announce : settings_i.set_up ? SetUp : to_first;
        end
      end
      Announce: begin
        emit = 1'b1;
        leaving.to = ToHeads;
        leaving.word = header(Interrupt, '0, {Core, heads_i.place[0].y, heads_i.place[0].x});
        state_d = settings_i.set_up ? SetUp : to_first;
      end
      SetUp: begin
        emit = 1'b1;
        leaving.to = ToMdn;
        leaving.word = header(StreamWrite, 5'd2, settings_i.memory);
        state_d = SetUpAddress;
      end
      SetUpAddress: begin
        emit = 1'b1;
        leaving.to = ToMdn;
        leaving.word = address_q;
        state_d = SetUpWords;
      end
      SetUpWords: begin
        emit = 1'b1;
        leaving.to = ToMdn;
        leaving.word = word_t'(payload_words);
        state_d = to_first;
      end
      HeadTo: begin
        emit = place_q != 2'd3 && head_place.valid;
        leaving.word = header(FrameHead, 5'(HeadWords + 2), {Core, head_place.y, head_place.x});
        state_d = emit ? Length : place_q == 2'd3 ? to_payload : HeadTo;
      end
      Length: begin
        emit = 1'b1;
        leaving.word = {bytes_q, follow};
        state_d = settings_i.address || settings_i.heads ? Address : Head;
      end
      Address: begin
        emit = 1'b1;
        leaving.word = payload_at_q;
        state_d = Head;
      end
      Head: begin
        emit = 1'b1;
        from_buffer = is_there;
        if (sent_q == (IndexW + 1)'(HeadWords - 1))
          state_d = settings_i.heads ? HeadTo : to_payload;
      end
      LineTo: begin
        emit = 1'b1;
        leaving.to = ToMdn;
        leaving.word =
            header(last_line ? WriteLast : WriteLine, 5'(LineWords + 1), settings_i.memory);
        state_d = LineAddress;
      end
      LineAddress: begin
        emit = 1'b1;
        leaving.to = by_mdn ? ToMdn : ToStatic;
        leaving.word = address_q;
        state_d = masked ? LineMask : Payload;
      end
      LineMask: begin
        emit = 1'b1;
        leaving.to = ToStatic;
        leaving.word = mask;
        state_d = Payload;
      end
      Payload: begin
        emit = 1'b1;
        from_buffer = is_there;
        leaving.to = by_mdn ? ToMdn : ToStatic;
        if (by_mdn || in_lines) begin
          if (last_of_line)
            state_d = sent_q + 1'b1 < end_of_frame ? (by_mdn ? LineTo : LineAddress) : by_mdn ? Written : Done;
        end else if (sent_q + 1'b1 == end_of_frame) begin
          state_d = Done;
        end
      end
      Written: if (written_q) state_d = to_head;
      default: state_d = Idle;  // Done
    endcase
  end

  // The buffer.
  logic busy, done_ready;
  logic [1:0] bad;
  word_t word;
  wire sends = emit && room && !(from_buffer && busy);
  wire advance = emit ? sends : state_q != Done || done_ready;
  line_buffer #(
      .Slots    (Slots),
      .SlotWords(SlotWords)
  ) buffer (
      .clk_i,
      .rst_i,
      .place_i,
      .wire_in,
      .frame,
      .in          (buffer_in),
      .answers,
      .rd_valid_i  (sends && from_buffer),
      .rd_addr_i   ({sent_slot_q, sent_q[IndexW-1:0]}),
      .rd_data_o   (word),
      .busy_o      (busy),
      .done_i      (state_q == Done),
      .keep_i      (held && has_payload),
      .done_slot_i (sent_slot_q),
      .done_ready_o(done_ready),
      .bad_o       (bad)
  );

  // One clock later the word is there and leaves with its direction.
  `STREAM(leaving_t, leave_in)
  `STREAM(leaving_t, leave_out)
  logic leave_q, leave_word_q;
  leaving_t leaving_q;
  logic [3:0] leave_count;
  assign leave_in.valid = leave_q;
  assign leave_in.data = '{to: leaving_q.to, word: leave_word_q ? word : leaving_q.word};
  assign room = leave_count + 4'(leave_q) < 4'd8;
  fifo #(
      .T(leaving_t),
      .Depth(8)
  ) leave_fifo (
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
    if (advance) state_q <= state_d;
    if (starts) begin
      sent_slot_q <= frame.data.slot;
      bytes_q <= frame.data.bytes;
      total_q <= frame_words[IndexW:0];
      sent_q <= by_mdn && frame_lines != '0 ? split : '0;
      place_q <= '0;
      if (held) begin
        payload_at_q <= word_t'({frame.data.slot, IndexW'(HeadWords), 2'b00});
      end else begin
        payload_at_q <= ring_base_i + ring_at;
        address_q <= ring_base_i + ring_at;
        ring_q <= ring_at + ring_need;
      end
      frames_o <= frames_o + 1'b1;
    end
    if (sends) begin
      case (state_q)
        Head: begin
          sent_q <= state_d == to_payload ? split : sent_q + 1'b1;
          // The next tile gets the head from its beginning.
          if (settings_i.heads && state_d == HeadTo) begin
            place_q <= place_q + 1'b1;
            if (place_q != 2'd2) sent_q <= '0;
          end
        end
        Payload: begin
          sent_q <= state_d == Written ? '0 : sent_q + 1'b1;
          if (last_of_line) address_q <= address_q + word_t'(LineBytes);
        end
        default: ;
      endcase
    end
    if (state_q == HeadTo && !emit) begin
      if (place_q != 2'd3) place_q <= place_q + 1'b1;
      else sent_q <= split;
    end
    written_q <= written_i || (written_q && state_q != Written);
    credits_q <= credits_q + 4'(credit_i) - 4'(settings_i.heads && starts);
    leave_q <= sends;
    leave_word_q <= from_buffer;
    if (sends) leaving_q <= leaving;

    if (bad != '0) bad_o <= bad_o + word_t'(bad);
    if (rst_i) begin
      state_q <= Idle;
      ring_q <= '0;
      leave_q <= 1'b0;
      written_q <= 1'b0;
      credits_q <= 4'(Window);
      frames_o <= '0;
      bad_o <= '0;
    end
  end

  `ASSERT(RoomForWhatWasRead, !(leave_q && !leave_in.ready))
endmodule

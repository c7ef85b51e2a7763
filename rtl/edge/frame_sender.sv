// SPDX-License-Identifier: Apache-2.0
/// Sends what goes with each frame of an input linecard, and says when its payload goes: the order of a frame.
///
/// For each `frame`, one word a clock: with a payload, an interrupt message (`announce`) and the set-up of a stream
/// (`set_up`); the head (length, payload address if set, 16 words, zeros after a short frame) on static network 1 or (`heads`) as a
/// message to each of up to three tiles. The payload has its turn after the head, or before it when its messages can overtake the
/// head (`payload_form_t.by_mdn`); `turn_o` until `turn_done_i`. Then `done_o` until the buffer has taken it.
///
/// Payload addresses are those of a ring in memory, lines, or the byte address in the buffer of a payload that stays there.
/// Heads leave as messages only while the tiles give them back as credits (`credit_i`): they share the network with the messages of
/// the tiles to each other, and must never fill it. Three clocks a frame are lost, one more for each tile without a head.
module frame_sender
  import mesh_pkg::*;
#(
    parameter int Slots = 32,
    parameter int SlotWords = 512,
    parameter int Window = 6,  // heads without a credit (15 at the most)
    localparam int SlotW = $clog2(Slots),
    localparam int IndexW = $clog2(SlotWords)
) (
    input logic         clk_i,
    input logic         rst_i,
    input place_t       place_i,
    input in_settings_t settings_i,
    input head_places_t heads_i,
    input word_t        ring_base_i,
    input word_t        ring_bytes_i,
    input logic         credit_i,      // with `heads`: the tiles are through with one more head

    stream_if.snk frame,  // {place in the buffer, bytes (16)}
    stream_if.src out,    // line_word_t

    // The payload of the frame at hand.
    output logic             turn_o,
    input  logic             turn_done_i,
    output logic  [IndexW:0] first_o,      // word of the frame with which payloads begin
    output logic  [IndexW:0] words_o,      // of the frame
    output logic  [IndexW:0] end_o,        // and with the zeros of a head after a short one
    output word_t            address_o,

    // The frame at hand is through: the buffer drops it, or keeps it for reads of its payload.
    output logic [SlotW-1:0] slot_o,
    output logic             done_o,
    output logic             keep_o,
    input  logic             done_ready_i,

    output word_t frames_o
);
  typedef logic [IndexW:0] count_t;
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
    Payload,
    Done
  } state_e;
  state_e state_q, state_d;
  logic  [15:0] bytes_q;
  logic  [ 1:0] place_q;  // among the tiles that get the head
  logic  [ 3:0] index_q;  // word of the head
  word_t        ring_q;  // offset of the next payload
  logic  [ 3:0] credits_q;  // heads that may still leave as messages

  // The frame that comes. A short frame has the words of a head.
  wire   [15:0] frame_bytes = frame.data[15:0];
  wire   [15:0] frame_words = (frame_bytes + 16'd5) >> 2;
  wire   [15:0] least = frame_words < 16'(HeadWords) ? 16'(HeadWords) : frame_words;
  assign first_o = settings_i.early ? count_t'(EarlyWords) : count_t'(HeadWords);
  wire [15:0] frame_lines = (least - 16'(first_o) + 16'd7) >> 3;
  wire word_t ring_need = word_t'({frame_lines, 5'd0});
  wire word_t ring_at = ring_q + ring_need > ring_bytes_i ? '0 : ring_q;
  assign frame.ready = state_q == Idle && !(settings_i.heads && credits_q == '0);
  wire starts = frame.valid && frame.ready;

  // The frame at hand.
  wire payload_form_t form = payload_form(settings_i.payload);
  assign end_o = words_o < count_t'(HeadWords) ? count_t'(HeadWords) : words_o;
  wire has_payload = end_o > first_o;
  wire count_t payload_words = end_o - first_o;
  wire [IndexW-3:0] lines = (IndexW - 2)'((payload_words + count_t'(7)) >> 3);
  wire [3:0] line_words = 4'(LineWords) + 4'(form.address) + 4'(form.mask);
  wire head_place_t head_place = heads_i.place[place_q[1]?2 : int'(place_q[0])];
  wire no_place = place_q == 2'd3;
  // Words on the static network after the head.
  logic [15:0] follow;
  always_comb begin
    follow = form.lines ? 16'(lines) * 16'(line_words) : 16'(payload_words);
    if (!form.leaves || form.by_mdn) follow = '0;
  end

  function automatic word_t header(logic [4:0] user, logic [4:0] len, place_t dest);
    return {user, place_i, len, dest};
  endfunction

  logic moves;
  state_e to_payload, to_head, to_first;
  always_comb begin
    to_payload = has_payload && form.leaves && !form.by_mdn ? Payload : Done;
    to_head = settings_i.heads ? HeadTo : Length;
    to_first = form.by_mdn ? Payload : to_head;
    state_d = state_q;
    out.valid = !(state_q inside {Idle, Payload, Done});
    out.data.to = settings_i.heads ? ToHeads : ToStatic;
    out.data.stored = 1'b0;
    out.data.word = '0;
    case (state_q)
      Announce: begin
        out.data.to = ToHeads;
        out.data.word = header(Interrupt, '0, {Core, heads_i.place[0].y, heads_i.place[0].x});
        state_d = settings_i.set_up ? SetUp : to_first;
      end
      SetUp: begin
        out.data.to = ToMdn;
        out.data.word = header(StreamWrite, 5'd2, settings_i.memory);
        state_d = SetUpAddress;
      end
      SetUpAddress: begin
        out.data.to = ToMdn;
        out.data.word = address_o;
        state_d = SetUpWords;
      end
      SetUpWords: begin
        out.data.to = ToMdn;
        out.data.word = word_t'(payload_words);
        state_d = to_first;
      end
      HeadTo: begin
        out.valid = !no_place && head_place.valid;
        out.data.word = header(FrameHead, 5'(HeadWords + 2), {Core, head_place.y, head_place.x});
        state_d = out.valid ? Length : no_place ? to_payload : HeadTo;
      end
      Length: begin
        out.data.word = {bytes_q, follow};
        state_d = settings_i.address || settings_i.heads ? Address : Head;
      end
      Address: begin
        out.data.word = address_o;
        state_d = Head;
      end
      Head: begin
        out.data.stored = count_t'(index_q) < words_o;
        if (out.data.stored) out.data.word = word_t'(index_q);
        if (index_q == 4'(HeadWords - 1)) state_d = settings_i.heads ? HeadTo : to_payload;
      end
      Payload: if (turn_done_i) state_d = form.by_mdn ? to_head : Done;
      Done: if (done_ready_i) state_d = Idle;
      default: begin  // Idle
        if (starts && frame_lines == '0) state_d = to_head;
        else if (starts)
          state_d = settings_i.announce ? Announce : settings_i.set_up ? SetUp : to_first;
      end
    endcase
    moves = out.ready || !out.valid;
  end
  assign turn_o = state_q == Payload;
  assign done_o = state_q == Done;
  assign keep_o = !form.leaves && has_payload;

  always_ff @(posedge clk_i) begin
    if (moves) state_q <= state_d;
    if (starts) begin
      slot_o  <= frame.data[16+:SlotW];
      bytes_q <= frame_bytes;
      words_o <= count_t'(frame_words);
      place_q <= '0;
      index_q <= '0;
      if (form.leaves) begin
        address_o <= ring_base_i + ring_at;
        ring_q <= ring_at + ring_need;
      end else begin
        address_o <= word_t'({frame.data[16+:SlotW], IndexW'(HeadWords), 2'b00});
      end
      frames_o <= frames_o + 1'b1;
    end
    if (moves && state_q == Head) index_q <= index_q + 1'b1;
    // The next tile gets the head from its beginning.
    if (moves && state_q inside {Head, HeadTo} && state_d == HeadTo) place_q <= place_q + 1'b1;
    credits_q <= credits_q + 4'(credit_i) - 4'(settings_i.heads && starts);
    if (rst_i) begin
      state_q <= Idle;
      ring_q <= '0;
      credits_q <= 4'(Window);
      frames_o <= '0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Reads the payloads of an output linecard's frames, in the order of `fetch`, from memories and linecards' buffers.
///
/// Read messages go over the MDN (ReadLine, or ReadDma with `dma`), or to a buffer over the MDN or, with `held_gdn`, the GDN
/// (ReadDma, the last with `free`); up to `max_reads` at a time wait for words. Answers come in any order (`word_*`, `failed_i`,
/// by place) into eight places of a reorder buffer, whose words leave by `out`, one a clock; reads for the next frame begin while
/// the one before leaves. A failed read leaves its words as they are.
///
/// With `enable` an interrupt message (over the GDN, or with `tell_mdn` the MDN) goes to the tile each time there is room for one
/// more frame (`room_i`), once until the next frame begins (`begins_i`). It goes ahead of reads. Reset drops everything.
module payload_reader
  import mesh_pkg::*;
#(
    localparam int Slots = 8,
    localparam int SlotWords = 32
) (
    input logic          clk_i,
    input logic          rst_i,
    input logic          run_i,
    input place_t        place_i,
    input out_settings_t settings_i,

          stream_if.snk fetch,    // payload_fetch_t
    input logic         room_i,
    input logic         begins_i,

    // Messages.
    stream_if.src gdn_out,
    stream_if.src mdn_out,

    // Answers.
    output logic  [Slots-1:0] asked_o,       // places that wait for words
    input  logic              word_valid_i,
    input  logic  [      2:0] word_slot_i,
    input  word_t             word_i,
    input  logic  [Slots-1:0] failed_i,

    stream_if.src out  // word_t
);
  // ---- Requests: an interrupt, or the next read of the frame at hand
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
  always_comb asked = 4'($countones(asked_o));
  logic told_q;  // an interrupt went for the room there is

  wire payload_fetch_t payload = fetch.data;
  wire by_gdn = payload.held && settings_i.held_gdn;
  wire dma = payload.held || settings_i.dma;
  wire [4:0] most = !dma || settings_i.words == '0 ? 5'(LineWords) : settings_i.words;
  wire last = to_read_q <= 16'(most);
  wire [4:0] words = last ? to_read_q[4:0] : most;
  wire [3:0] limit = settings_i.max_reads == '0 ? 4'd1 : settings_i.max_reads;
  wire ask = reading_q && (state_q != AtHeader || (used_q != 4'(Slots) && asked < limit));
  // What is offered at the beginning of a message stays: an interrupt, or a read.
  logic telling_q, asking_q;
  wire tell = telling_q || (!asking_q && state_q == AtHeader && settings_i.enable && run_i && !told_q && room_i);
  dma_length_t length;
  assign length = '{free: payload.held && last, reserved: '0, tag: slot_q, words: words};

  word_t request;
  always_comb begin
    case (state_q)
      AtHeader: begin
        request = tell ? {Interrupt, place_i, 5'd0, settings_i.tile} :
            {dma ? ReadDma : ReadLine, place_i, dma ? 5'd2 : 5'd1, payload.from};
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

  // ---- The reorder buffer
  word_t buffer[Slots*SlotWords];
  logic [4:0] due_q[Slots];  // words each place waits for
  logic [4:0] write_at_q[Slots];
  logic [4:0] use_q[Slots];  // words of the place that belong to the frame
  logic [2:0] from_q;  // the place that is sent
  logic [4:0] send_at_q;  // the word in it
  wire in_use = used_q != '0;
  assign out.valid = in_use && (write_at_q[from_q] > send_at_q || !asked_o[from_q]) && send_at_q < use_q[from_q];
  assign out.data = buffer[{from_q, send_at_q}];
  wire word_sent = out.valid && out.ready;
  // A place is free when its words are sent and all it was to get has come.
  wire place_done = in_use && !asked_o[from_q] && send_at_q + 5'(word_sent) == use_q[from_q];

  always_ff @(posedge clk_i) begin
    telling_q <= tell && !told;
    asking_q  <= ask && !tell && !sent;
    if (told) told_q <= 1'b1;
    else if (begins_i) told_q <= 1'b0;
    if (sent) state_q <= asked_now ? AtHeader : state_e'(state_q + 2'd1);
    if (!reading_q) begin
      if (fetch.valid) begin
        reading_q <= 1'b1;
        to_read_q <= payload.words;
        read_at_q <= payload.address;
      end
    end else if (asked_now) begin
      reading_q <= !last;
      to_read_q <= to_read_q - 16'(words);
      read_at_q <= read_at_q + word_t'({words, 2'b00});
      slot_q <= slot_q + 1'b1;
      asked_o[slot_q] <= 1'b1;
      due_q[slot_q] <= dma ? words : 5'(LineWords);
      use_q[slot_q] <= words;
      write_at_q[slot_q] <= '0;
    end
    if (word_valid_i) begin
      buffer[{word_slot_i, write_at_q[word_slot_i]}] <= word_i;
      write_at_q[word_slot_i] <= write_at_q[word_slot_i] + 1'b1;
      if (write_at_q[word_slot_i] + 1'b1 == due_q[word_slot_i]) asked_o[word_slot_i] <= 1'b0;
    end
    for (int i = 0; i < Slots; i++) if (failed_i[i]) asked_o[i] <= 1'b0;
    used_q <= used_q + 4'(asked_now) - 4'(place_done);
    if (place_done) begin
      from_q <= from_q + 1'b1;
      send_at_q <= '0;
    end else if (word_sent) begin
      send_at_q <= send_at_q + 1'b1;
    end
    if (rst_i) begin
      telling_q <= 1'b0;
      asking_q <= 1'b0;
      told_q <= 1'b0;
      state_q <= AtHeader;
      reading_q <= 1'b0;
      slot_q <= '0;
      asked_o <= '0;
      used_q <= '0;
      from_q <= '0;
      send_at_q <= '0;
    end
  end

  `ASSERT(PlacesInUse, used_q <= 4'(Slots))
endmodule

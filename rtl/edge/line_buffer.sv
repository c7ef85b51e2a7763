// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Where an input linecard keeps frames: `Slots` places of `SlotWords` words in one RAM.
///
/// A frame from the wire is stored whole; when no place is free the wire stalls. Each stored frame comes out once as `frame` (its
/// place and bytes). The sender reads its words (`rd_*`: the word comes in the next clock, not while `busy_o`) and raises
/// `done_i` for its place, taken with `done_ready_o`: the place is free, or, with `keep_i`, stays until its last word has been
/// read by messages (ReadDma with `free`) or FreeBuffer gives it up. `in` takes such messages (64 reads wait), `answers` are
/// ReadData messages; they go before the sender. Frames too long for a place are dropped, as are malformed messages; `bad_o`
/// is how many in this clock. Reset empties it.
module line_buffer
  import mesh_pkg::*;
#(
    parameter int Slots = 32,
    parameter int SlotWords = 512,
    localparam int SlotW = $clog2(Slots),
    localparam int IndexW = $clog2(SlotWords)
) (
    input logic   clk_i,
    input logic   rst_i,
    input place_t place_i,

    stream_if.snk wire_in,  // wire_beat_t
    stream_if.src frame,    // {place, bytes (16)}

    // A dynamic network.
    stream_if.snk in,
    stream_if.src answers,

    // The sender.
    input  logic                     rd_valid_i,
    input  logic  [SlotW+IndexW-1:0] rd_addr_i,    // {place, word}
    output word_t                    rd_data_o,
    output logic                     busy_o,       // an answer has the RAM
    input  logic                     done_i,
    input  logic                     keep_i,
    input  logic  [       SlotW-1:0] done_slot_i,
    output logic                     done_ready_o,

    output logic [1:0] bad_o
);
  typedef logic [SlotW-1:0] slot_t;
  typedef logic [SlotW+15:0] stored_t;

  if (Slots < 2 || (Slots & (Slots - 1)) != 0 || (SlotWords & (SlotWords - 1)) != 0) begin : g_bad
    $fatal(1, "line_buffer: Slots %0d and SlotWords %0d are not powers of two", Slots, SlotWords);
  end

  // Places that are free: those never used yet, then those given back.
  `STREAM(slot_t, give)
  `STREAM(slot_t, back)
  `FIFO(slot_t, Slots, i_free_slots, give, back)
  logic [SlotW:0] fresh_q;
  wire fresh = fresh_q != (SlotW + 1)'(Slots);

  // From the wire to the buffer.
  `STREAM(stored_t, stored)
  wire_beat_t beat;
  assign beat = wire_in.data;
  logic filling_q;  // slot_q is there to be filled
  slot_t slot_q;
  logic [IndexW:0] index_q;  // of the next word; its highest bit: too many
  wire [IndexW:0] index = beat.sop ? '0 : index_q;
  wire arrives = wire_in.valid && wire_in.ready;
  assign wire_in.ready = filling_q;
  assign stored.valid  = arrives && beat.eop && !index[IndexW];
  assign stored.data   = {slot_q, 16'({index, 2'b00}) + 16'(beat.bytes) - 16'd2};
  `FIFO(stored_t, Slots, i_frames, stored, frame)
  assign back.ready = !filling_q && !fresh;
  always_ff @(posedge clk_i) begin
    if (filling_q) begin
      if (arrives) begin
        index_q <= index[IndexW] ? index : index + 1'b1;
        if (stored.valid) filling_q <= 1'b0;
      end
    end else if (fresh) begin
      filling_q <= 1'b1;
      slot_q <= fresh_q[SlotW-1:0];
      fresh_q <= fresh_q + 1'b1;
    end else if (back.valid) begin
      filling_q <= 1'b1;
      slot_q <= back.data;
    end
    if (rst_i) begin
      filling_q <= 1'b0;
      fresh_q   <= '0;
      index_q   <= '0;
    end
  end

  // Reads of the buffer by messages.
  `STREAM(mem_read_t, requests)
  `STREAM(mem_read_t, read)
  `STREAM(dram_write_t, no_write)
  `STREAM(stream_set_up_t, no_set_up)
  `STREAM(place_t, no_confirm)
  assign no_confirm.ready = 1'b1;
  logic bad_message;
  mem_messages #(
      .Understands(ForBuffer)
  ) i_messages (
      .clk_i,
      .rst_i,
      .place_i,
      .in,
      .read(requests),
      .write(no_write),
      .set_up(no_set_up),
      .confirm(no_confirm),
      .bad_o(bad_message)
  );
  assign no_write.ready  = 1'b1;
  assign no_set_up.ready = 1'b1;
  `FIFO(mem_read_t, 64, i_reads, requests, read)
  logic reading_q;  // the header of the answer has left
  logic [4:0] read_left_q;
  logic [SlotW+IndexW-1:0] read_at_q;
  logic answer_room;
  wire read_words = reading_q && read_left_q != '0 && answer_room;
  wire read_done = read.valid && (reading_q ? read_words && read_left_q == 5'd1 :
      (read.data.silent || read.data.header.len == '0 && answer_room)) && (!read.data.free || give.ready);
  wire read_header = read.valid && !reading_q && !read.data.silent && answer_room &&
      (read.data.header.len != '0 || read_done);
  wire read_go = read_words && (read_left_q != 5'd1 || read_done);
  assign read.ready = read_done;

  // One read a clock, answers first.
  assign busy_o = read_go;
  ram_sdp #(
      .Width(32),
      .Depth(Slots * SlotWords)
  ) i_buffer (
      .clk_i,
      .we_i(arrives && !index[IndexW]),
      .waddr_i({slot_q, index[IndexW-1:0]}),
      .wdata_i(beat.data),
      .re_i(read_go || rd_valid_i),
      .raddr_i(read_go ? read_at_q : rd_addr_i),
      .rdata_o(rd_data_o)
  );

  // Places given back: by the sender, or by the last read of a place that keeps its frame.
  logic [Slots-1:0] held_q;
  slot_t read_slot;
  assign read_slot = read.data.address[2+IndexW+:SlotW];
  wire free_read = read_done && read.data.free;
  wire free_held = free_read && held_q[read_slot];
  wire free_send = done_i && !keep_i;
  assign done_ready_o = !free_send || !free_held;
  assign give.valid = free_held || free_send;
  assign give.data = free_held ? read_slot : done_slot_i;

  `STREAM(word_t, answer_in)
  logic answer_q, answer_word_q;
  word_t answer_header_q;
  logic [3:0] answer_count;
  assign answer_in.valid = answer_q;
  assign answer_in.data = answer_word_q ? rd_data_o : answer_header_q;
  assign answer_room = answer_count + 4'(answer_q) < 4'd8;
  fifo #(
      .T(word_t),
      .Depth(8)
  ) i_answer_fifo (
      .clk_i,
      .rst_i,
      .in(answer_in),
      .out(answers),
      .count_o(answer_count)
  );

  wire too_long = arrives && beat.eop && index[IndexW];
  assign bad_o = 2'(too_long) + 2'(bad_message) + 2'(free_read && !free_held);
  always_ff @(posedge clk_i) begin
    answer_q <= read_header || read_go;
    answer_word_q <= read_go;
    if (read_header) begin
      answer_header_q <= read.data.header;
      read_left_q <= read.data.header.len;
      read_at_q <= read.data.address[2+:SlotW+IndexW];
    end else if (read_go) begin
      read_left_q <= read_left_q - 1'b1;
      read_at_q   <= read_at_q + 1'b1;
    end
    if (read_done) reading_q <= 1'b0;
    else if (read_header) reading_q <= 1'b1;
    if (done_i && keep_i) held_q[done_slot_i] <= 1'b1;
    if (free_held) held_q[read_slot] <= 1'b0;
    if (rst_i) begin
      answer_q <= 1'b0;
      reading_q <= 1'b0;
      held_q <= '0;
    end
  end

  `ASSERT(RoomToGiveBack, !(give.valid && !give.ready))
  `ASSERT(RoomForWhatWasRead, !(answer_q && !answer_in.ready))
endmodule

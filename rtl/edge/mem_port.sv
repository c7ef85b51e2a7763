// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Memory port of an edge slot: a DRAM of 32-bit words at the memory network, with a streaming interface at static network 1.
///
/// Messages (`mesh_pkg::message_e`) come over the MDN, stream set-ups also over the GDN. Reads are answered in their order, up
/// to `max_reads` at a time are between DRAM and network; writes have no answer and go ahead of reads that wait. Words on the
/// static input are written as `static_in` says: where set-ups have announced them, or as lines with an address (and a
/// mask) in front; a word that is not announced waits. Streams out leave in the order of their set-ups. Whoever sent a
/// WriteLast, or with `confirm` a StreamWrite, hears of it by an Interrupt (over the GDN): reads caused by that come after the words.
///
/// One word a clock each way; half duplex: one of the two, in turns of a line when both are wanted. An answer begins
/// `dram_latency_i` + 8 clocks after the last word of its request when nothing is ahead of it. Answers and requests cannot block
/// each other as long as confirmations are taken and no more than `ReadQueue` reads under way: requests are always taken.
/// Only set-ups ahead of their words can fill a queue (16). Reset forgets everything. Counts words, and messages it cannot read.
module mem_port
  import mesh_pkg::*;
#(
    parameter int ReadQueue = 64
) (
    input logic          clk_i,
    input logic          rst_i,
    input place_t        place_i,
    input mem_settings_t settings_i,

    // Networks.
    stream_if.snk mdn_in,
    stream_if.src mdn_out,
    stream_if.snk gdn_in,
    stream_if.src gdn_out,
    stream_if.snk st_in,
    stream_if.src st_out,

    // DRAM: byte addresses. Data comes so many clocks (1 .. 63) after rd_valid; that does not change.
    input  logic  [5:0] dram_latency_i,
    output logic        dram_rd_valid_o,
    output word_t       dram_rd_addr_o,
    input  word_t       dram_rd_data_i,
    output logic        dram_wr_valid_o,
    output word_t       dram_wr_addr_o,
    output word_t       dram_wr_data_o,
    output logic  [3:0] dram_wr_be_o,

    // Counters.
    output word_t reads_o,
    output word_t writes_o,
    output word_t bad_o
);
  localparam int ReplyWords = 256;
  localparam int StreamWords = 64;
  localparam int SetUps = 16;

  // Messages.
  `STREAM(mem_read_t, read)
  `STREAM(mem_read_t, no_read)
  `STREAM(mem_read_t, next)
  `STREAM(dram_write_t, write[2])
  `STREAM(dram_write_t, no_write)
  `STREAM(dram_write_t, to_dram)
  `STREAM(stream_set_up_t, set_up[2])
  `STREAM(stream_set_up_t, either)
  `STREAM(stream_set_up_t, to_in)
  `STREAM(stream_set_up_t, to_out)
  `STREAM(stream_set_up_t, next_in)
  `STREAM(stream_set_up_t, next_out)
  `STREAM(place_t, written)
  `STREAM(place_t, no_confirm)
  logic bad_mdn, bad_gdn;
  mem_messages mdn_messages (
      .clk_i,
      .rst_i,
      .place_i,
      .in(mdn_in),
      .read,
      .write(write[0]),
      .set_up(set_up[0]),
      .confirm(written),
      .bad_o(bad_mdn)
  );
  mem_messages #(
      .Understands(ForStreams)
  ) gdn_messages (
      .clk_i,
      .rst_i,
      .place_i,
      .in(gdn_in),
      .read(no_read),
      .write(no_write),
      .set_up(set_up[1]),
      .confirm(no_confirm),
      .bad_o(bad_gdn)
  );
  assign no_confirm.ready = 1'b1;
  assign no_read.ready = 1'b1;
  assign no_write.ready = 1'b1;

  `FIFO(mem_read_t, ReadQueue, read_queue, read, next)
  arb_rr #(
      .T(stream_set_up_t),
      .N(2)
  ) set_up_arb (
      .clk_i,
      .rst_i,
      .in(set_up),
      .out(either),
      .index_o()
  );
  // Confirmations: of set-ups, and of what was written.
  `STREAM(word_t, confirm_in[2])
  `STREAM(word_t, confirm_out[2])
  for (genvar i = 0; i < 2; i++) begin : g_confirm
    `FIFO(word_t, SetUps, confirmations, confirm_in[i], confirm_out[i])
  end
  message_merge #(
      .N(2)
  ) confirm_merge (
      .clk_i,
      .rst_i,
      .in (confirm_out),
      .out(gdn_out)
  );
  assign confirm_in[0].valid = to_in.valid && to_in.ready && settings_i.confirm;
  assign confirm_in[0].data = {Interrupt, place_i, 5'd0, either.data.from};
  assign confirm_in[1].valid = written.valid;
  assign confirm_in[1].data = {Interrupt, place_i, 5'd0, written.data};
  assign written.ready = confirm_in[1].ready;
  assign to_in.valid = either.valid && either.data.write && confirm_in[0].ready;
  assign to_in.data = either.data;
  assign to_out.valid = either.valid && !either.data.write;
  assign to_out.data = either.data;
  assign either.ready = either.data.write ? to_in.valid && to_in.ready : to_out.ready;
  `FIFO(stream_set_up_t, SetUps, in_queue, to_in, next_in)
  `FIFO(stream_set_up_t, SetUps, out_queue, to_out, next_out)

  // Words of the static network.
  mem_static static_words (
      .clk_i,
      .rst_i,
      .mode_i(settings_i.static_in),
      .in(st_in),
      .set_up(next_in),
      .write(write[1])
  );
  arb_rr #(
      .T(dram_write_t),
      .N(2)
  ) write_arb (
      .clk_i,
      .rst_i,
      .in(write),
      .out(to_dram),
      .index_o()
  );

  // Which way the DRAM goes in this clock.
  logic want_read, may_read, may_write;
  logic writing_q;  // half duplex: the side that has the turn
  logic [2:0] turn_q;  // words it has had
  wire want_write = to_dram.valid;
  assign may_read  = !settings_i.half_duplex || !want_write || !writing_q;
  assign may_write = !settings_i.half_duplex || !want_read || writing_q;
  always_ff @(posedge clk_i) begin
    if (want_read && want_write) begin
      turn_q <= turn_q + 1'b1;
      if (turn_q == '1) writing_q <= !writing_q;
    end else if (want_read || want_write) begin
      turn_q <= '0;
      writing_q <= want_write;
    end
    if (rst_i) begin
      turn_q <= '0;
      writing_q <= 1'b0;
    end
  end
  assign to_dram.ready = may_write;

  // Reads: the message at hand, the stream at hand; they take turns by word.
  logic [4:0] left_q, waiting_q;  // words to be read; messages not answered yet
  logic [15:0] out_left_q;
  word_t address_q, out_address_q;
  logic [8:0] reserved_q;  // words of answers between read and network
  logic [6:0] out_reserved_q;
  logic out_turn_q;
  wire want_message = left_q != '0;
  wire want_out = out_left_q != '0 && out_reserved_q != 7'(StreamWords);
  assign want_read = want_message || want_out;
  wire go_out = want_out && may_read && (out_turn_q || !want_message);
  wire go_message = want_message && may_read && !go_out;

  // Answers: headers in order, words as they come.
  `STREAM(word_t, header_in)
  `STREAM(word_t, header_out)
  `STREAM(word_t, word_in)
  `STREAM(word_t, word_out)
  `STREAM(word_t, stream_in)
  wire header_t answer = header_t'(header_out.data);
  logic [4:0] answer_left_q;  // words to come after the header that has left
  wire moved = mdn_out.valid && mdn_out.ready;
  wire answered = moved && (answer_left_q == 5'd1 || answer_left_q == '0 && answer.len == '0);
  assign mdn_out.valid = answer_left_q != '0 ? word_out.valid :
      header_out.valid && (word_out.valid || answer.len == '0);
  assign mdn_out.data = answer_left_q != '0 ? word_out.data : header_out.data;
  assign header_out.ready = moved && answer_left_q == '0;
  assign word_out.ready = moved && answer_left_q != '0;

  wire [4:0] limit = settings_i.max_reads == '0 ? 5'd1 : 5'(settings_i.max_reads);
  wire [4:0] words = next.data.header.len;
  wire take = next.valid && (left_q == '0 || left_q == 5'd1 && go_message) && header_in.ready &&
      waiting_q < limit && reserved_q + 9'(words) <= 9'(ReplyWords);
  assign next.ready = take;
  assign header_in.valid = take;
  assign header_in.data = next.data.header;
  link_fifo #(
      .Depth(16)
  ) headers (
      .clk_i,
      .rst_i,
      .in    (header_in),
      .out   (header_out),
      .room_o()
  );
  `FIFO(word_t, ReplyWords, answers, word_in, word_out)
  `FIFO(word_t, StreamWords, stream_words, stream_in, st_out)
  assign next_out.ready = out_left_q == '0;

  // What is under way in the DRAM.
  logic [63:0] message_q, out_q;
  assign word_in.valid = message_q[dram_latency_i];
  assign word_in.data = dram_rd_data_i;
  assign stream_in.valid = out_q[dram_latency_i];
  assign stream_in.data = dram_rd_data_i;

  always_ff @(posedge clk_i) begin
    message_q <= {message_q[62:0], go_message};
    out_q <= {out_q[62:0], go_out};
    dram_rd_valid_o <= go_message || go_out;
    if (want_read) begin
      dram_rd_addr_o <= go_out ? out_address_q : address_q;
      out_turn_q <= !go_out;
    end
    if (take) begin
      left_q <= words;
      address_q <= next.data.address;
    end else if (go_message) begin
      left_q <= left_q - 1'b1;
      address_q <= address_q + 32'd4;
    end
    if (next_out.valid && next_out.ready) begin
      out_left_q <= next_out.data.words;
      out_address_q <= next_out.data.address;
    end else if (go_out) begin
      out_left_q <= out_left_q - 1'b1;
      out_address_q <= out_address_q + 32'd4;
    end
    if (moved) answer_left_q <= answer_left_q == '0 ? answer.len : answer_left_q - 1'b1;
    waiting_q <= waiting_q + 5'(take) - 5'(answered);
    reserved_q <= reserved_q + (take ? 9'(words) : '0) - 9'(word_out.ready);
    out_reserved_q <= out_reserved_q + 7'(go_out) - 7'(st_out.valid && st_out.ready);

    dram_wr_valid_o <= to_dram.valid && may_write;
    if (to_dram.valid) begin
      dram_wr_addr_o <= to_dram.data.address;
      dram_wr_data_o <= to_dram.data.data;
      dram_wr_be_o   <= to_dram.data.enable;
    end

    if (go_message || go_out) reads_o <= reads_o + 1'b1;
    if (to_dram.valid && may_write) writes_o <= writes_o + 1'b1;
    if (bad_mdn || bad_gdn) bad_o <= bad_o + word_t'(bad_mdn) + word_t'(bad_gdn);
    if (rst_i) begin
      message_q <= '0;
      out_q <= '0;
      dram_rd_valid_o <= 1'b0;
      dram_wr_valid_o <= 1'b0;
      left_q <= '0;
      out_left_q <= '0;
      out_turn_q <= 1'b0;
      answer_left_q <= '0;
      waiting_q <= '0;
      reserved_q <= '0;
      out_reserved_q <= '0;
      reads_o <= '0;
      writes_o <= '0;
      bad_o <= '0;
    end
  end

  `ASSERT(RoomForWhatWasRead,
          !(word_in.valid && !word_in.ready) && !(stream_in.valid && !stream_in.ready))
endmodule

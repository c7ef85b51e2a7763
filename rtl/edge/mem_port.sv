// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Memory port of an edge slot: a DRAM of 32-bit words at the memory network, with a streaming interface at static network 1.
///
/// Messages (`mesh_pkg::message_e`) come over the MDN, stream set-ups also over the GDN. Reads are answered in their order, up
/// to `max_reads` at a time are between DRAM and network; writes have no answer and go ahead of reads that wait. Words on the
/// static input are written as `static_in` says: where set-ups have announced them, or as lines with an address (and a
/// mask) in front; a word that is not announced waits. Streams out leave in the order of their set-ups. An Interrupt (over the
/// GDN) confirms a WriteLast, and with `confirm` a StreamWrite: reads caused by that come after the words.
///
/// One word a clock each way; half duplex: one of the two, in turns of a line when both have words. An answer begins
/// `dram_latency_i` + 8 clocks after the last word of its request when nothing is ahead of it. Answers and requests cannot block
/// each other as long as confirmations are taken and no more than `ReadQueue` reads under way: requests are always taken.
/// Only set-ups ahead of their words can fill a queue (16). Reset drops everything. Counts words and malformed messages.
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
  localparam int SetUps = 16;

  // Messages.
  `STREAM(mem_read_t, read)
  `STREAM(mem_read_t, no_read)
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
  mem_messages i_mdn_messages (
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
  ) i_gdn_messages (
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

  arb_rr #(
      .T(stream_set_up_t),
      .N(2)
  ) i_set_up_arb (
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
    `FIFO(word_t, SetUps, i_confirmations, confirm_in[i], confirm_out[i])
  end
  message_merge #(
      .N(2)
  ) i_confirm_merge (
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
  `FIFO(stream_set_up_t, SetUps, i_in_queue, to_in, next_in)
  `FIFO(stream_set_up_t, SetUps, i_out_queue, to_out, next_out)

  // Words of the static network.
  mem_static i_static_words (
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
  ) i_write_arb (
      .clk_i,
      .rst_i,
      .in(write),
      .out(to_dram),
      .index_o()
  );

  // Reads: of messages, of streams.
  `STREAM(word_t, ask[2])
  logic [1:0] word_valid;
  mem_answers #(
      .ReadQueue(ReadQueue)
  ) i_answers (
      .clk_i,
      .rst_i,
      .max_reads_i (settings_i.max_reads),
      .read,
      .out         (mdn_out),
      .ask         (ask[0]),
      .word_valid_i(word_valid[0]),
      .word_i      (dram_rd_data_i)
  );
  mem_stream_out i_stream_out (
      .clk_i,
      .rst_i,
      .set_up      (next_out),
      .out         (st_out),
      .ask         (ask[1]),
      .word_valid_i(word_valid[1]),
      .word_i      (dram_rd_data_i)
  );
  mem_dram i_dram (
      .clk_i,
      .rst_i,
      .half_duplex_i(settings_i.half_duplex),
      .latency_i    (dram_latency_i),
      .read         (ask),
      .valid_o      (word_valid),
      .write        (to_dram),
      .dram_rd_valid_o,
      .dram_rd_addr_o,
      .dram_wr_valid_o,
      .dram_wr_addr_o,
      .dram_wr_data_o,
      .dram_wr_be_o,
      .reads_o,
      .writes_o
  );

  always_ff @(posedge clk_i) begin
    if (bad_mdn || bad_gdn) bad_o <= bad_o + word_t'(bad_mdn) + word_t'(bad_gdn);
    if (rst_i) bad_o <= '0;
  end
endmodule

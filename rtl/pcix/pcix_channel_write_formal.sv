// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=16
`include "formal.svh"
`include "stream.svh"
/// pcix_channel, writes of up to 3 words: however often targets put a transaction off or cut it, each word reaches the target
/// once, in order, at its address; a command that fails takes the rest of its words from the client and no other's; each
/// command has one answer, and one that says ok stands for words that were all taken.
module pcix_channel_write_formal
  import pcix_pkg::*, channel_pkg::*;
(
    input logic         clk_i,
    input logic         rst_i,
    input logic         cmd_valid_i,
    input channel_cmd_t cmd_i,
    input logic         wdata_valid_i,
    input logic         done_ready_i,
    input logic         enable_i,
    input logic         start_i,
    input logic         pop_i,
    input logic         taken_i,
    input logic         end_i,
    input end_e         how_i
);
  `FORMAL_BEGIN
  `STREAM(channel_cmd_t, cmd)
  `STREAM(logic [63:0], wdata)
  `STREAM(channel_word_t, rdata)
  `STREAM(channel_result_e, done)
  logic [2:0] given_q;  // words that the client gave, modulo 8: a word is its number
  assign cmd.valid = cmd_valid_i;
  assign cmd.data = cmd_i;
  assign wdata.valid = wdata_valid_i;
  assign wdata.data = 64'(given_q);
  assign rdata.ready = 1'b1;
  assign done.ready = done_ready_i;
  logic want, need, accept, timed_out, split_error;
  offer_t offer;
  logic [63:0] data;
  pcix_channel #(
      .Reads(1'b0)
  ) dut (
      .clk_i,
      .rst_i,
      .cmd,
      .wdata,
      .rdata,
      .done,
      .enable_i,
      .bus_i('0),
      .device_i('0),
      .want_o(want),
      .need_o(need),
      .offer_o(offer),
      .data_o(data),
      .start_i,
      .pop_i,
      .taken_i,
      .end_i,
      .how_i,
      .split_i(1'b0),
      .split_start_i('0),
      .word_i(1'b0),
      .word_last_i(1'b0),
      .word_data_i('0),
      .accept_o(accept),
      .timeout_i('0),
      .split_timeout_o(timed_out),
      .split_error_o(split_error)
  );

  // The command under way: its words, how many of them the target took, and how many are done with.
  logic [1:0] asked_q, taken_q, gone_q;
  logic [ 2:0] first_q;  // the number of its first word
  logic [63:0] addr_q;
  // The master: a transaction runs, and a word of it is on the pins.
  logic running_q, shown_q;
  logic [63:0] pins_q;
  wire take = wdata.valid && wdata.ready;
  always_ff @(posedge clk_i) begin
    if (start_i) running_q <= 1'b1;
    else if (end_i) running_q <= 1'b0;
    if (pop_i) begin
      shown_q <= 1'b1;
      pins_q  <= data;
    end else if (end_i) shown_q <= 1'b0;
    if (take) given_q <= given_q + 1'b1;
    if (taken_i) taken_q <= taken_q + 1'b1;
    if (dut.word) gone_q <= gone_q + 1'b1;
    if (cmd.valid && cmd.ready) begin
      asked_q <= cmd_i.bytes[4:3];
      addr_q <= cmd_i.addr;
      first_q <= given_q + 3'(take);
      {taken_q, gone_q} <= '0;
    end
    if (rst_i) {running_q, shown_q, given_q, asked_q, taken_q, gone_q, first_q} <= '0;
  end
  wire [2:0] next = first_q + 3'(taken_q);  // the number of the word that the target is to have next
  wire [2:0] held = first_q + 3'(gone_q);
  wire last = gone_q + 2'd1 == asked_q;
  always_comb begin
    if (started_q) begin
      assume (!cmd_i.read && cmd_i.bytes inside {16'd8, 16'd16, 16'd24} && cmd_i.addr[2:0] == '0);
      assume (!start_i || (want && !running_q));
      // One word after the other from the first on, the next one with the taking of the one before.
      assume (!pop_i || (running_q && (shown_q ? taken_i && !end_i && !last : !end_i)));
      assume (!taken_i || (shown_q && (pop_i || end_i)));
      assume (!end_i || (shown_q && how_i == (taken_i ? EndDone : how_i) && how_i != EndSplit));
      assume (!end_i || taken_i || how_i != EndDone);
      // The client has all words of a transaction that has begun.
      assume (!running_q || wdata_valid_i);
    end
  end

  // The states of the block that are named here.
  localparam logic [2:0] Empty = 3'd0, Ready = 3'd1, Running = 3'd2, Flush = 3'd4, Finish = 3'd5;
  always_comb begin
    if (started_q) begin
      if (taken_i) assert (pins_q == 64'(next) && taken_q < asked_q);
      if (start_i) begin
        assert (offer.command == MemWriteBlock && offer.addr == addr_q + {59'd0, taken_q, 3'd0});
        assert (offer.words == 10'(asked_q - taken_q));
      end
      if (take) assert (given_q - first_q < 3'(asked_q) && dut.state_q inside {Running, Flush});
      if (dut.leave) begin
        assert (given_q + 3'(take) - first_q == 3'(asked_q));
        assert ((dut.result_q == ChannelOk) == (taken_q + 2'(taken_i) == asked_q));
      end
      assert (!rdata.valid && !timed_out && !split_error && !accept);
      // Named for the induction: where the command stands.
      assert (dut.state_q inside {Empty, Ready, Running, Flush, Finish});
      assert (running_q == (dut.state_q == Running) && (!shown_q || running_q));
      assert (given_q - first_q == 3'(gone_q) + 3'(dut.hold_valid_q));
      if (dut.hold_valid_q) assert (dut.hold_q == 64'(held));
      if (shown_q) assert (dut.hold_valid_q && dut.fresh_q && pins_q == dut.hold_q);
      if (running_q && !shown_q) assert (!dut.fresh_q);
      if (dut.state_q == Ready) assert (!dut.fresh_q || !dut.hold_valid_q);
      if (dut.state_q inside {Ready, Running, Flush}) begin
        assert (!dut.cmd_q.read && gone_q < asked_q);
        assert (dut.cmd_q.bytes == 16'({asked_q - gone_q, 3'd0}) && dut.piece_q == dut.cmd_q.bytes[12:0]);
        assert (dut.cmd_q.addr == addr_q && dut.offset_q == 13'({gone_q, 3'd0}));
        assert ((dut.result_q == ChannelOk) == (dut.state_q != Flush));
      end else assert (gone_q == asked_q && !dut.hold_valid_q);
      assert (taken_q <= gone_q);
      if (dut.state_q != Empty) begin
        if (dut.result_q == ChannelOk)
          assert (taken_q == gone_q);
          else assert (taken_q < asked_q);
      end
      cover (taken_i && !end_i && asked_q == 2'd3);
      cover (dut.leave && dut.result_q == ChannelOk && asked_q == 2'd3 && done.valid);
      cover (pop_i && dut.replay && taken_q == 2'd1);
      cover (dut.leave && dut.result_q == ChannelAbort && taken_q == 2'd1);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=14
`include "formal.svh"
`include "stream.svh"
/// pcix_channel, reads of up to 3 words: whatever Split Completions come, late, wrong or unasked, a word that goes to the client as
/// read is of a completion to the transaction under way, which carries on where the last one stopped; the tag of a read that
/// was given up is not that of the next; each command gives as many words as it asked for, marked where it ends, and one answer,
/// and an answer that says ok stands for words that were all read.
module pcix_channel_formal
  import pcix_pkg::*, channel_pkg::*;
(
    input logic                clk_i,
    input logic                rst_i,
    input logic                cmd_valid_i,
    input channel_cmd_t        cmd_i,
    input logic                rdata_ready_i,
    input logic                done_ready_i,
    input logic                enable_i,
    input logic                start_i,
    input logic                end_i,
    input end_e                how_i,
    input logic                split_i,
    input split_start_t        split_start_i,
    input logic                word_i,
    input logic                word_last_i,
    input logic         [63:0] word_data_i,
    input logic         [ 1:0] timeout_i
);
  `FORMAL_BEGIN
  `STREAM(channel_cmd_t, cmd)
  `STREAM(logic [63:0], wdata)
  `STREAM(channel_word_t, rdata)
  `STREAM(channel_result_e, done)
  assign cmd.valid = cmd_valid_i;
  assign cmd.data = cmd_i;
  assign wdata.valid = 1'b0;
  assign wdata.data = '0;
  assign rdata.ready = rdata_ready_i;
  assign done.ready = done_ready_i;
  logic want, need, accept, timed_out, split_error;
  offer_t offer;
  logic [63:0] data;
  pcix_channel #(
      .Index(1)
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
      .pop_i(1'b0),
      .taken_i(1'b0),
      .end_i,
      .how_i,
      .split_i,
      .split_start_i,
      .word_i,
      .word_last_i,
      .word_data_i,
      .accept_o(accept),
      .timeout_i(32'(timeout_i)),
      .split_timeout_o(timed_out),
      .split_error_o(split_error)
  );

  // The bus: one thing at a time, a transaction of this channel or a Split Completion.
  logic running_q, inside_q;
  always_ff @(posedge clk_i) begin
    if (start_i) running_q <= 1'b1;
    else if (end_i) running_q <= 1'b0;
    if (split_i) inside_q <= 1'b1;
    else if (word_i && word_last_i) inside_q <= 1'b0;
    if (rst_i) {running_q, inside_q} <= '0;
  end
  always_comb begin
    if (started_q) begin
      assume (cmd_i.read && cmd_i.bytes inside {16'd8, 16'd16, 16'd24} && cmd_i.addr[2:0] == '0);
      assume (!start_i || (want && !running_q && !inside_q && !split_i));
      assume (!end_i || running_q);
      assume (!split_i || (!running_q && !inside_q));
      assume (!word_i || inside_q);
    end
  end

  // The transaction under way: its tag, what it still waits for, and whether the completion on the bus is to it.
  // The states of the block that are named here.
  localparam logic [2:0] Empty = 3'd0, Ready = 3'd1, Running = 3'd2, Waiting = 3'd3, Flush = 3'd4,
      Finish = 3'd5;
  logic open_q, to_it_q, lost_q;
  logic [4:0] tag_q, lost_tag_q;
  logic [1:0]
      asked_q,
      given_q,
      read_q;  // words of the command, those the client got, those of them that were read
  logic [3:0] next_q;  // word address of the next
  wire to_it = split_i && open_q && split_start_i.tag == tag_q && !split_start_i.message &&
      split_start_i.byte_count == {7'd0, asked_q - given_q, 3'd0} && split_start_i.lower_addr == next_q;
  wire [15:0] left = {11'd0, asked_q - given_q, 3'd0};
  wire give = dut.fill.valid && dut.fill.ready;
  wire give_read = give && dut.state_q == Waiting;
  always_ff @(posedge clk_i) begin
    if (start_i) tag_q <= offer.attr.tag;
    if (end_i) open_q <= how_i == EndSplit;
    else if (timed_out || split_error || (give && asked_q - given_q == 2'd1)) open_q <= 1'b0;
    if (split_i) to_it_q <= to_it;
    if (timed_out) begin
      lost_q <= 1'b1;
      lost_tag_q <= tag_q;
    end
    if (give) begin
      given_q <= given_q + 1'b1;
      next_q  <= next_q + 1'b1;
      if (give_read) read_q <= read_q + 1'b1;
    end
    if (cmd.valid && cmd.ready) begin
      asked_q <= cmd_i.bytes[4:3];
      next_q  <= cmd_i.addr[6:3];
      given_q <= '0;
      read_q  <= '0;
    end
    if (rst_i) {open_q, to_it_q, lost_q, asked_q, given_q, read_q} <= '0;
  end
  always_comb begin
    if (started_q) begin
      if (give) assert (given_q < asked_q && dut.fill.data.last == (asked_q - given_q == 2'd1));
      if (dut.fill.valid) assert (dut.fill.ready || dut.state_q == Flush);
      if (give_read) assert (to_it_q && open_q && dut.fill.data.data == word_data_i);
      if (start_i && lost_q) assert (offer.attr.tag != lost_tag_q);
      if (dut.leave) begin
        assert (given_q + 2'(give) == asked_q);
        if (dut.result_q == ChannelOk) assert (read_q + 2'(give_read) == asked_q);
      end
      // Named for the induction: where the command stands.
      assert (dut.state_q <= Finish && !dut.hold_valid_q);
      assert (open_q == (dut.state_q == Waiting) && running_q == (dut.state_q == Running));
      assert (!running_q || !inside_q);
      assert (!dut.accept_q || inside_q);
      if (dut.state_q inside {Ready, Running, Waiting, Flush}) begin
        assert (dut.cmd_q.read && given_q < asked_q && left == 16'(dut.piece_q));
        assert (dut.cmd_q.bytes == left && dut.offset_q == 13'({given_q, 3'd0}));
        assert (offer.addr[6:3] == next_q && offer.addr[2:0] == '0);
        assert ((dut.result_q == ChannelOk) == (dut.state_q != Flush));
      end else assert (given_q == asked_q);
      if (dut.state_q != Empty && dut.result_q == ChannelOk) assert (read_q == given_q);
      if (dut.state_q inside {Running, Waiting}) begin
        assert (tag_q == {dut.turn_q, 2'd1});
        assert (dut.g_reads.count + 10'(left[15:3]) <= 10'd512);
      end
      if (dut.state_q == Waiting && dut.accept_q && !dut.message_q) assert (to_it_q);
      if (lost_q) assert (lost_tag_q == {dut.turn_q - 3'd1, 2'd1});
      cover (dut.leave && dut.result_q == ChannelOk && asked_q == 2'd3);
      cover (dut.leave && dut.result_q == ChannelOk && lost_q);
      cover (dut.leave && dut.result_q == ChannelSplitError);
      cover (split_i && lost_q && open_q && split_start_i.tag == lost_tag_q);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// slow_none: takes every word of the frames of all classes, the lowest class first, and counts each frame once.
module slow_none_tb;
  import direct_pkg::*;
  import channel_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Classes = 3;
  `STREAM_ON(stored_word_t, frame[Classes], clk, rst)
  `STREAM_ON(stored_word_t, out, clk, rst)
  `STREAM_ON(channel_cmd_t, cmd[2], clk, rst)
  `STREAM_ON(logic [63:0], wdata[2], clk, rst)
  `STREAM_ON(channel_word_t, rdata[2], clk, rst)
  `STREAM_ON(channel_result_e, done[2], clk, rst)
  assign out.ready = 1'b1;
  for (genvar i = 0; i < 2; i++) begin : g_channel
    assign cmd[i].ready   = 1'b1;
    assign wdata[i].ready = 1'b1;
    assign rdata[i].valid = 1'b0;
    assign rdata[i].data  = '0;
    assign done[i].valid  = 1'b0;
    assign done[i].data   = ChannelOk;
    always @(posedge clk)
      if (!rst) begin
        `CHECK(!cmd[i].valid && !wdata[i].valid && !out.valid, "something is sent")
        `CHECK(rdata[i].ready && done[i].ready, "the bus is held up")
      end
  end
  logic dropped;
  slow_none #(
      .Classes(Classes)
  ) dut (
      .frame,
      .dropped_o(dropped),
      .out,
      .cmd,
      .wdata,
      .rdata,
      .done
  );

  int unsigned percent = 100, counted = 0, words = 0;
  int unsigned frames[Classes];
  logic [Classes-1:0] valid, ready;
  for (genvar c = 0; c < Classes; c++) begin : g_class
    wire stored_word_t word = frame[c].data;
    assign valid[c] = frame[c].valid;
    assign ready[c] = frame[c].ready;
    always @(posedge clk) begin
      if (!rst && frame[c].valid && frame[c].ready && word.last) frames[c] = frames[c] + 1;
    end
    stream_source #(
        .T(stored_word_t),
        .Endless(1)
    ) i_source (
        .on(frame[c]),
        .percent
    );
  end

  always @(posedge clk)
    if (!rst) begin
      `CHECK(ready == (valid & -valid), "not the lowest class that has a word")
      if (dropped) counted++;
      words += $countones(valid & ready);
    end

  initial begin
    int unsigned all;
    @(negedge rst);
    for (int i = 0; i < 20; i++) begin
      percent = $urandom_range(100, 10);
      repeat (200) @(posedge clk);
    end
    percent = 0;
    repeat (10) @(posedge clk);
    all = 0;
    for (int c = 0; c < Classes; c++) begin
      `CHECK(frames[c] > 10, "a class was never served")
      all += frames[c];
    end
    `CHECK(counted == all && words > 1000, "frames not counted once each")
    `TB_PASS
  end
endmodule

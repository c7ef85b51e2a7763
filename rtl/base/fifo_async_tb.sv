// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// fifo_async: order and content across clocks of random ratio, capacity, and one beat a clock of the slower side.
module fifo_async_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Depth = 16;
  typedef logic [31:0] word_t;

  int unsigned read_half = 7;
  logic rclk = 0;
  initial forever #(read_half) rclk = !rclk;

  `STREAM_ON(word_t, in, clk, rst)
  `STREAM_ON(word_t, out, rclk, rst)
  logic [4:0] count;
  fifo_async #(
      .T(word_t),
      .Depth(Depth)
  ) dut (
      .wclk_i (clk),
      .wrst_i (rst),
      .in,
      .count_o(count),
      .rclk_i (rclk),
      .rrst_i (rst),
      .out
  );

  int unsigned in_percent = 100, out_percent = 100;
  stream_source #(
      .T(word_t),
      .Endless(1)
  ) i_source (
      .on(in),
      .percent(in_percent)
  );
  `STREAM_CHECK(word_t, i_sink, out, out_percent)
  always @(posedge clk) if (in.valid && in.ready && !rst) i_sink.expected.push_back(in.data);

  initial begin
    int unsigned start;
    @(negedge rst);
    repeat (50) @(posedge clk);
    start = i_sink.taken;
    repeat (700) @(posedge rclk);
    `CHECK(i_sink.taken - start >= 699, "not one beat a clock of the slower side")
    for (int i = 0; i < 20; i++) begin
      read_half   = $urandom_range(11, 2);
      in_percent  = $urandom_range(100, 1);
      out_percent = $urandom_range(100, 1);
      repeat (500) @(posedge clk);
    end
    out_percent = 0;
    in_percent  = 100;
    repeat (100) @(posedge clk);
    `CHECK(!in.ready && i_sink.expected.size() inside {Depth, Depth + 1},
           "does not fill to its depth")
    in_percent  = 0;
    out_percent = 100;
    repeat (300) @(posedge clk);
    `CHECK(i_sink.expected.size() == 0 && count == 0, "beats were lost")
    `TB_PASS
  end
endmodule

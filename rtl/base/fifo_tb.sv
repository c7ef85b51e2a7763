// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// fifo: order and content under random back-pressure, capacity, and one beat a clock when both sides are open; the registered
/// one does the same in the same clocks.
module fifo_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Depth = 5;
  typedef logic [31:0] word_t;

  `STREAM_ON(word_t, in, clk, rst)
  `STREAM_ON(word_t, out, clk, rst)
  logic [2:0] count;
  fifo #(
      .T(word_t),
      .Depth(Depth)
  ) dut (
      .clk_i  (clk),
      .rst_i  (rst),
      .in,
      .out,
      .count_o(count)
  );

  `STREAM_ON(word_t, same_in, clk, rst)
  `STREAM_ON(word_t, same_out, clk, rst)
  logic [2:0] same_count;
  fifo #(
      .T(word_t),
      .Depth(Depth),
      .Registered(1)
  ) i_registered (
      .clk_i  (clk),
      .rst_i  (rst),
      .in     (same_in),
      .out    (same_out),
      .count_o(same_count)
  );
  assign same_in.valid  = in.valid;
  assign same_in.data   = in.data;
  assign same_out.ready = out.ready;
  always @(posedge clk)
    if (!rst) begin
      `CHECK(same_count == count && same_in.ready == in.ready && same_out.valid == out.valid,
             "the registered one is not in step")
      if (out.valid) `CHECK(same_out.data == out.data, "the registered one has other data")
    end

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
    repeat (10) @(posedge clk);
    start = i_sink.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_sink.taken - start >= 999, "not one beat a clock")
    for (int i = 0; i < 20; i++) begin
      in_percent  = $urandom_range(100, 1);
      out_percent = $urandom_range(100, 1);
      repeat (500) @(posedge clk);
    end
    out_percent = 0;
    in_percent  = 100;
    repeat (20) @(posedge clk);
    `CHECK(count == Depth, "does not fill to its depth")
    in_percent  = 0;
    out_percent = 100;
    repeat (20) @(posedge clk);
    `CHECK(i_sink.expected.size() == 0 && count == 0, "beats were lost")
    `TB_PASS
  end
endmodule

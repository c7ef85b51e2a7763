// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// fifo: order and content under random back-pressure, capacity, and one beat a clock when both sides are open.
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

  int unsigned in_percent = 100, out_percent = 100;
  word_t expected[$];
  int unsigned moved = 0;

  always @(posedge clk) begin
    if (in.valid && in.ready) expected.push_back(in.data);
    if (out.valid && out.ready) begin
      `CHECK(expected.size() != 0, "a beat came out that did not go in")
      `CHECK(out.data == expected.pop_front(), "wrong beat")
      moved++;
    end
    if (rst) begin
      in.valid  <= 0;
      out.ready <= 0;
    end else begin
      out.ready <= $urandom_range(99) < out_percent;
      if (!in.valid || in.ready) begin
        in.valid <= $urandom_range(99) < in_percent;
        in.data  <= $urandom();
      end
    end
  end

  initial begin
    int unsigned start;
    @(negedge rst);
    repeat (10) @(posedge clk);
    start = moved;
    repeat (1000) @(posedge clk);
    `CHECK(moved - start >= 999, $sformatf("only %0d beats in 1000 clocks", moved - start))
    foreach (expected[i]);
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
    `CHECK(expected.size() == 0 && count == 0, "beats were lost")
    `TB_PASS
  end
endmodule

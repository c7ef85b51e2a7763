// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// fifo_async: order and content across clocks of random ratio, capacity, and one beat a clock of the slower side. Then each side
/// is reset at random, alone and with the other, for any number of clocks; at last from pointers that no traffic leads to.
module fifo_async_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Depth = 16;
  typedef logic [31:0] word_t;

  int unsigned read_half = 7;
  logic rclk = 0;
  initial #0.25 forever #(read_half) rclk = !rclk;  // edges never coincide
  logic wrst_now = 0, rrst_now = 1;
  wire wrst = rst || wrst_now;
  initial begin
    @(negedge rst);
    repeat (4) @(negedge rclk);
    rrst_now = 0;
  end

  `STREAM_ON(word_t, in, clk, wrst)
  `STREAM_ON(word_t, out, rclk, rrst_now)
  logic [4:0] count;
  fifo_async #(
      .T(word_t),
      .Depth(Depth)
  ) dut (
      .wclk_i (clk),
      .wrst_i (wrst),
      .in,
      .count_o(count),
      .rclk_i (rclk),
      .rrst_i (rrst_now),
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
  `STREAM_SINK(word_t, i_sink, out, out_percent)

  // What went in and has not come out, from beat number `from` on; the reader's reset may take beats away: all before number
  // `gone`, none from `kept` on.
  word_t held[$];
  int unsigned put = 0, from = 0, gone = 0, kept = 0, reset_clocks = 0, begun;
  always @(posedge clk)
    if (in.valid && in.ready && !wrst) begin
      held.push_back(in.data);
      put++;
    end
  always @(posedge rclk)
    if (rrst_now) begin
      if (reset_clocks == 0) begun = put;
      reset_clocks++;
      kept = put;
      if (reset_clocks == 3) gone = begun;
    end else begin
      reset_clocks = 0;
      if (out.valid && out.ready) begin
        while (from < kept && (from < gone || (held.size() != 0 && held[0] != out.data))) begin
          void'(held.pop_front());
          from ++;
        end
        `CHECK(held.size() != 0 && held[0] == out.data, "not the next beat")
        void'(held.pop_front());
        from ++;
        kept = from;
      end
    end

  task automatic settle();
    in_percent  = 0;
    out_percent = 100;
    repeat (8 * Depth) begin
      @(posedge rclk);
      @(posedge clk);
    end
    `CHECK(put - from == held.size() && put <= kept | put == from, "beats were lost")
    `CHECK(count == 0, $sformatf("counts %0d when it is empty", count))
  endtask
  task automatic reset(bit write, int unsigned clocks);
    if (write) begin
      @(negedge clk) wrst_now = 1;
      repeat (clocks) @(negedge clk);
      wrst_now = 0;
    end else begin
      @(negedge rclk) rrst_now = 1;
      repeat (clocks) @(negedge rclk);
      rrst_now = 0;
    end
  endtask

  initial begin
    int unsigned start;
    @(negedge rrst_now);
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
    `CHECK(!in.ready && held.size() inside {Depth, Depth + 1}, "does not fill to its depth")
    settle();
    // Resets at any time, of any length, once with half of the pointers of a FIFO that was never in order.
    for (int i = 0; i < 400; i++) begin
      automatic bit write = 1'($urandom()), read = !write || $urandom_range(3) == 0;
      read_half   = $urandom_range(11, 2);
      in_percent  = $urandom_range(3) == 0 ? 100 : $urandom_range(100, 1);
      out_percent = $urandom_range(3) == 0 ? $urandom_range(5) : $urandom_range(100, 1);
      repeat ($urandom_range(60)) @(posedge clk);
      fork
        if (write) reset(1, $urandom_range(10, 1));
        if (read) reset(0, $urandom_range(10, 1));
      join
      if ($urandom_range(1) == 0) repeat ($urandom_range(20)) @(posedge clk);
      if (i % 8 == 0) begin
        // Both work again: a beat that goes in now comes out.
        out_percent = 100;
        in_percent = 100;
        start = from;
        repeat (2 * Depth + 10) begin
          @(posedge rclk);
          @(posedge clk);
        end
        `CHECK(from - start > Depth, "stands after a reset")
        settle();
      end
    end
    `TB_PASS
  end
endmodule

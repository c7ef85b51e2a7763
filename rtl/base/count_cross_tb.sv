// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// count_cross at clocks of random ratio, each side reset at random: every event is counted once, none of those long before the
/// destination's reset ended, and the count never goes back but by that.
module count_cross_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  int unsigned dst_half = 3, percent = 50;
  logic dst_clk = 0, add = 0;
  initial #0.25 forever #(dst_half) dst_clk = !dst_clk;  // edges never coincide
  logic src_rst_now = 0, dst_rst = 1;
  wire src_rst = rst || src_rst_now;
  logic [31:0] count;
  count_cross dut (
      .src_clk_i(clk),
      .src_rst_i(src_rst),
      .add_i(add),
      .dst_clk_i(dst_clk),
      .dst_rst_i(dst_rst),
      .count_o(count)
  );

  // Events; how many there were in each of the last clocks of the destination; at the end of its reset, and well before.
  int unsigned events = 0, earlier[4] = '{default: 0}, at_end, before_end, last = 0;
  always @(posedge clk) begin
    if (add && !src_rst) events++;
    add <= $urandom_range(99) < percent;
  end
  always @(posedge dst_clk) begin
    if (dst_rst) begin
      at_end = events;
      before_end = earlier[3];
      last = 0;
    end else begin
      `CHECK(count >= last && count <= events - before_end, $sformatf(
             "%0d after %0d, of %0d to %0d", count, last, before_end, events))
      last = count;
    end
    earlier <= '{events, earlier[0], earlier[1], earlier[2]};
  end

  initial begin
    @(negedge rst);
    repeat (4) @(negedge dst_clk);
    dst_rst = 0;
    for (int i = 0; i < 200; i++) begin
      automatic int unsigned which = $urandom_range(3, 1);
      dst_half = $urandom_range(11, 1);
      percent  = $urandom_range(2) == 0 ? 100 : $urandom_range(100);
      repeat ($urandom_range(200)) @(posedge clk);
      fork
        if (which[0]) begin
          @(negedge clk) src_rst_now = 1;
          repeat ($urandom_range(8, 1)) @(negedge clk);
          src_rst_now = 0;
        end
        if (which[1]) begin
          @(negedge dst_clk) dst_rst = 1;
          repeat ($urandom_range(8, 1)) @(negedge dst_clk);
          dst_rst = 0;
        end
      join
      if (i % 4 == 0) begin
        percent = 0;
        repeat (20) @(posedge clk);
        repeat (10) @(posedge dst_clk);
        `CHECK(count >= events - at_end && count <= events - before_end,
               $sformatf("%0d events of %0d", count, events - at_end))
      end
    end
    `TB_PASS
  end
endmodule

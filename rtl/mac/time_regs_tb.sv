// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// time_regs behind reads of its words: they are one time, that of the first read, also where the low word runs over between
/// them. The high word of the running clock would be torn there; the test counts that it would have been.
module time_regs_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  ptp_time_t now;
  logic set = 0, latch = 0;
  ptp_time_t to = '0;
  logic [31:0] lo, hi, fraction, held;
  ptp_clock i_clock (
      .clk_i(clk),
      .rst_i(rst),
      .adjust_i(32'sh0123_4567),
      .step_valid_i(1'b0),
      .step_i('0),
      .set_valid_i(set),
      .set_i(to),
      .time_o(now),
      .fraction_o(fraction)
  );
  time_regs dut (
      .clk_i(clk),
      .time_i(now),
      .fraction_i(fraction),
      .latch_i(latch),
      .lo_o(lo),
      .hi_o(hi),
      .fraction_o(held)
  );

  initial begin
    ptp_time_t read;
    logic [31:0] low, part;
    int unsigned torn;
    torn = 0;
    @(negedge rst);
    for (int n = 0; n < 2000; n++) begin
      // The clock stands just before the low word runs over; the two reads come somewhere around that.
      @(negedge clk);
      set = 1;
      to  = {16'($urandom), 32'hffff_ffff - $urandom_range(63)};
      @(negedge clk);
      set = 0;
      repeat ($urandom_range(20)) @(negedge clk);
      latch = 1;
      #1 low = lo;
      read = now;
      part = fraction;
      @(negedge clk);
      latch = 0;
      repeat ($urandom_range(20)) @(negedge clk);
      `CHECK({hi[15:0], low} == read, "the two words are not one time")
      `CHECK(held == part, "the fraction is of another time")
      `CHECK(hi[31:16] == '0, "there is something above the time")
      if (16'(now >> 32) != read[47:32]) torn++;
    end
    `CHECK(torn > 200, "the low word hardly ever ran over between the reads")
    `TB_PASS
  end
endmodule

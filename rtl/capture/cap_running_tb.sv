// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// cap_running: on with enable, and off when nothing was busy for as many clocks as it should be, not one sooner or later.
module cap_running_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Quiet = 20;
  logic enable = 0, busy = 0, enabled, running;
  cap_running #(
      .Quiet(Quiet)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .enable_i(enable),
      .busy_i(busy),
      .enable_o(enabled),
      .running_o(running)
  );

  int unsigned left = 0, ended = 0, busy_percent = 0;
  bit was_rst, held = 1;  // on all the time of the reset, and seen to be when that ends
  always @(posedge clk) begin
    was_rst = rst;
    if (!rst && held) left = Quiet;
    #1;
    if (was_rst) `CHECK(!enabled && !running, "on in a reset")
    else begin
      `CHECK(enabled == enable && running == (left != 0), "on or off at another time")
    end
  end
  always @(negedge clk) begin
    held = rst;
    if (rst) {left, enable, busy} = {32'd0, 2'b11};
    else begin
      if ($urandom_range(99) == 0) enable = 1'($urandom());
      if ($urandom_range(199) == 0) busy_percent = $urandom_range(3) == 0 ? 20 : 2;
      busy = $urandom_range(99) < busy_percent;
      if (left == 1 && !enable && !busy) ended++;
      if (enable || (left != 0 && busy)) left = Quiet;
      else if (left != 0) left--;
    end
  end

  initial begin
    ended = 0;
    @(negedge rst);
    repeat (20_000) @(posedge clk);
    `CHECK(ended > 20, "the test did not do its work")
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=4
`include "formal.svh"
/// age_tick: under a limit that stays, a tick comes when a quarter of it has passed since the last one (each clock for limits
/// below 8), none ever comes sooner, and none at all under a limit of 0.
module age_tick_formal (
    input logic        clk_i,
    input logic        rst_i,
    input logic [31:0] limit_i
);
  `FORMAL_BEGIN
  logic tick;
  age_tick dut (
      .clk_i,
      .rst_i,
      .limit_i,
      .tick_o(tick)
  );

  logic [31:0] limit_q;
  logic [29:0] since_q;  // clocks since the last tick, or the first after the reset
  wire  [29:0] quarter = limit_q[31:2] == '0 ? 30'd1 : limit_q[31:2];
  always_ff @(posedge clk_i) begin
    limit_q <= limit_i;
    since_q <= rst_i ? '0 : tick ? 30'd1 : since_q + 1'b1;
  end
  always_comb begin
    if (started_q) begin
      stays : assume (limit_i == limit_q);
      counts :
      assert (limit_q == '0 || (since_q <= quarter && dut.count_q == (tick ? '0 : since_q)));
      in_time : assert (limit_q == '0 || (tick == (since_q == quarter)));
      never : assert (!tick || limit_q != '0);
      two : cover (tick && limit_q == 32'd11);
    end
  end
endmodule

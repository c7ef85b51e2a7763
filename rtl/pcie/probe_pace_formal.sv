// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=4
`include "formal.svh"
/// probe_pace: while actions follow each other, the next may be taken as soon as less than a clock of what those before cost is
/// still to pass, and no sooner; a clock in which nothing is owed and nothing is taken forgets the fraction.
module probe_pace_formal (
    input logic        clk_i,
    input logic        rst_i,
    input logic        take_i,
    input logic [13:0] cost_i
);
  `FORMAL_BEGIN
  logic ready;
  probe_pace dut (
      .clk_i,
      .rst_i,
      .take_i,
      .cost_i,
      .ready_o(ready)
  );

  // Since the first of a row of actions, in sixteenths of a clock: what they cost, and what has passed.
  logic [23:0] cost_q, passed_q;
  wire idle = cost_q < passed_q + 24'd16;
  always_ff @(posedge clk_i) begin
    cost_q   <= cost_q + (take_i ? 24'(cost_i) : '0);
    passed_q <= passed_q + 24'd16;
    if (rst_i || (idle && !(take_i && cost_q + 24'(cost_i) >= passed_q + 24'd16)))
      {cost_q, passed_q} <= '0;
  end
  always_comb begin
    assume (!take_i || ready);
    if (started_q) begin
      row : assume (passed_q < 24'h800000);  // some 500,000 clocks without a pause
      owed :
      assert (cost_q >= passed_q && dut.debt_q == cost_q - passed_q && cost_q - passed_q < 24'h004010);
      in_time : assert (ready == idle);
      fraction : cover (take_i && ready && cost_q - passed_q == 24'd15);
    end
  end
endmodule

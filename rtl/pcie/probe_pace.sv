// SPDX-License-Identifier: Apache-2.0
/// Spaces actions in time: each costs `cost_i` sixteenths of a clock, and the next may be taken when those have passed. Fractions
/// add up while actions follow each other without a pause; idle time is not saved. `ready_o` stays until something is taken.
module probe_pace (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        take_i,  // only while ready
    input  logic [13:0] cost_i,
    output logic        ready_o
);
  logic [14:0] debt_q;
  wire  [14:0] debt = take_i ? debt_q + 15'(cost_i) : debt_q;
  assign ready_o = debt_q < 15'd16;
  always_ff @(posedge clk_i) debt_q <= (rst_i || debt < 15'd16) ? '0 : debt - 15'd16;
endmodule

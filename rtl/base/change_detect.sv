// SPDX-License-Identifier: Apache-2.0
/// Says when a value changes: `changed_o` is high in the clock in which `d_i` is another value than in the clock before, and
/// `rose_o` when besides it was 0. The value before reset's end counts as 0. Combinational from `d_i`.
module change_detect #(
    parameter int Width = 1
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [Width-1:0] d_i,
    output logic             changed_o,
    output logic             rose_o
);
  logic [Width-1:0] last_q;
  assign changed_o = d_i != last_q;
  assign rose_o = d_i != '0 && last_q == '0;
  always_ff @(posedge clk_i) last_q <= rst_i ? '0 : d_i;
endmodule

// SPDX-License-Identifier: Apache-2.0
/// Two flip-flops that bring a Gray-coded or single-bit value into the clock domain of `clk_i`.
///
/// Latency 2 clocks of the receiving domain. Without a reset: it shows what the other domain says, also while its own is reset.
module sync_2ff #(
    parameter int Width = 1
) (
    input  logic             clk_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  (* ASYNC_REG = "TRUE" *) logic [Width-1:0] first_q = '0, second_q = '0;
  assign q_o = second_q;

  always_ff @(posedge clk_i) begin
    first_q  <= d_i;
    second_q <= first_q;
  end
endmodule

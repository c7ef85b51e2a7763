// SPDX-License-Identifier: Apache-2.0
/// One register stage for a value without handshake. Latency 1 clock; not reset.
module pipe_reg #(
    parameter type T = logic
) (
    input  logic clk_i,
    input  T     d_i,
    output T     q_o
);
  always_ff @(posedge clk_i) q_o <= d_i;
endmodule

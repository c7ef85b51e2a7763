// SPDX-License-Identifier: Apache-2.0
/// Counts events: adds the number of bits of `add_i` that are high in each clock, modulo 2^32. 0 from reset.
module event_count #(
    parameter int N = 1
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [N-1:0] add_i,
    output logic [ 31:0] count_o
);
  always_ff @(posedge clk_i) begin
    if (|add_i) count_o <= count_o + 32'($countones(add_i));
    if (rst_i) count_o <= '0;
  end
endmodule

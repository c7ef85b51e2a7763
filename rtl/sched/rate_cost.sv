// SPDX-License-Identifier: Apache-2.0
/// What bytes take at a rate: `bytes_i` times `period_i` clocks, rounded down to 2^-12 of a clock.
///
/// `period_i` is in 2^-20 clocks a byte. Answers 2 clocks later, one a clock; two products of 24 by 17 bits. No reset.
module rate_cost (
    input  logic               clk_i,
    input  logic signed [23:0] bytes_i,
    input  logic        [31:0] period_i,
    output logic signed [47:0] cost_o     // in 2^-12 clocks
);
  logic signed [40:0] low_q, high_q;
  wire signed [56:0] sum = {high_q, 16'd0} + 57'(low_q);
  always_ff @(posedge clk_i) begin
    low_q  <= bytes_i * $signed({1'b0, period_i[15:0]});
    high_q <= bytes_i * $signed({1'b0, period_i[31:16]});
    cost_o <= 48'(sum >>> 8);
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Divider of the core: quotient or remainder of two words, signed or not, one bit a clock.
///
/// `start_i` with the operands begins, from then on 33 clocks pass until `done_o`, which stands with the result until the next
/// start. Nothing may start while another is under way, but `abort_i` ends whatever is. By zero and overflow as the
/// RISC-V manual has them.
module core_div (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        start_i,
    input  logic        abort_i,
    input  logic        signed_i,
    input  logic        remainder_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic        done_o,
    output logic [31:0] result_o
);
  logic busy_q, remainder_q, negative_q;
  logic [4:0] left_q;
  logic [31:0] rest_q, quotient_q, divisor_q;

  // The quotient moves into the register that the dividend moves out of.
  logic [32:0] shifted, less;
  logic a_negative, b_negative;
  `WHILE(busy_q, shifted, {rest_q, quotient_q[31]})
  `WHILE(busy_q, less, shifted - {1'b0, divisor_q})
  wire fits = !less[32];

  `WHILE(start_i, a_negative, signed_i && a_i[31])
  `WHILE(start_i, b_negative, signed_i && b_i[31])

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      left_q <= '1;
      rest_q <= '0;
      quotient_q <= a_negative ? -a_i : a_i;
      divisor_q <= b_negative ? -b_i : b_i;
      remainder_q <= remainder_i;
      // The remainder has the dividend's sign; by zero the quotient is all ones, whatever the signs.
      negative_q <= remainder_i ? a_negative : (a_negative != b_negative && b_i != 0);
    end else if (busy_q) begin
      left_q <= left_q - 1'b1;
      rest_q <= fits ? less[31:0] : shifted[31:0];
      quotient_q <= {quotient_q[30:0], fits};
    end
    if (busy_q && left_q == 0) done_o <= 1'b1;
    busy_q <= start_i || (busy_q && left_q != 0);
    if (rst_i || abort_i) busy_q <= 1'b0;
    if (rst_i || abort_i || start_i) done_o <= 1'b0;
  end

  logic [31:0] magnitude;
  `WHILE(done_o, magnitude, remainder_q ? rest_q : quotient_q)
  `WHILE(done_o, result_o, negative_q ? -magnitude : magnitude)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Brings a setting into another clock: `setting_o` follows `value_i` some clocks of both later, whole at any time.
///
/// Of several in a row some may be left out, the last never. After `dst_rst_i`, and until one came, it is `Reset`, which `value_i` is
/// after `src_rst_i` too. Both resets must be given together.
module setting_cross #(
    parameter int Width = 32,
    parameter logic [Width-1:0] Reset = '0
) (
    input  logic             src_clk_i,
    input  logic             src_rst_i,
    input  logic [Width-1:0] value_i,
    input  logic             dst_clk_i,
    input  logic             dst_rst_i,
    output logic [Width-1:0] setting_o
);
  typedef logic [Width-1:0] value_t;
  `STREAM_ON(value_t, given, src_clk_i, src_rst_i)
  `STREAM_ON(value_t, taken, dst_clk_i, dst_rst_i)
  value_t given_q;
  logic   valid_q;
  assign given.valid = valid_q;
  assign given.data  = given_q;
  assign taken.ready = 1'b1;
  `FIFO_CROSS(value_t, 4, i_cross, src, given, dst, taken)

  always_ff @(posedge src_clk_i) begin
    if (given.ready || !valid_q) begin
      given_q <= value_i;
      valid_q <= value_i != given_q;
    end
    if (src_rst_i) begin
      given_q <= Reset;
      valid_q <= 1'b0;
    end
  end
  always_ff @(posedge dst_clk_i) begin
    if (taken.valid) setting_o <= taken.data;
    if (dst_rst_i) setting_o <= Reset;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Two-entry register that cuts every combinational path between its two sides.
///
/// Latency 1 clock, one beat a clock, full back-pressure. Reset empties it. Drops nothing.
module spill_reg #(
    parameter type T = logic
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,
    stream_if.src out
);
  T head_q, spare_q;
  logic head_full_q, spare_full_q;

  // The input is open as long as the spare place is free.
  assign in.ready  = !spare_full_q;
  // The head is what leaves.
  assign out.valid = head_full_q;
  assign out.data  = head_q;

  // The head moves on when it is empty or taken.
  wire advance = !head_full_q || out.ready;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      head_full_q  <= spare_full_q || in.valid;
      spare_full_q <= 1'b0;
      if (spare_full_q) head_q <= spare_q;
      else if (in.valid) head_q <= in.data;
    end else if (in.valid && in.ready) begin
      spare_q <= in.data;
      spare_full_q <= 1'b1;
    end
    if (rst_i) begin
      head_full_q  <= 1'b0;
      spare_full_q <= 1'b0;
    end
  end

  `ASSERT(SpareNeedsHead, spare_full_q |-> head_full_q)
endmodule

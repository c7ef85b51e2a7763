// SPDX-License-Identifier: Apache-2.0
/// Lattice's output register for both edges, as far as boards/ uses it: D0 goes out at a rising edge, D1 at the falling one behind it.
module ODDRX1F (
    input  logic D0,
    input  logic D1,
    input  logic SCLK,
    input  logic RST,
    output logic Q
);
  logic rise_q, fall_q;
  assign Q = SCLK ? rise_q : fall_q;
  always_ff @(posedge SCLK) begin
    rise_q <= D0 && !RST;
    fall_q <= D1 && !RST;
  end
endmodule

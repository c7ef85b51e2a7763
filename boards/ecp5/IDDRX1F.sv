// SPDX-License-Identifier: Apache-2.0
/// Lattice's input register for both edges, as far as boards/ uses it: the levels at a rising edge and at the falling one behind it
/// come out together, at the next rising edge.
module IDDRX1F (
    input  logic D,
    input  logic SCLK,
    input  logic RST,
    output logic Q0,
    output logic Q1
);
  logic rise_q, fall_q;
  always_ff @(posedge SCLK) begin
    rise_q <= D;
    Q0 <= rise_q && !RST;
    Q1 <= fall_q && !RST;
  end
  always_ff @(negedge SCLK) fall_q <= D;
endmodule

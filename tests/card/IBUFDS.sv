// SPDX-License-Identifier: Apache-2.0
/// A differential input, as far as boards/ uses it.
module IBUFDS (
    input  logic I,
    input  logic IB,
    output logic O
);
  wire unused = &{1'b0, IB};
  assign O = I;
endmodule

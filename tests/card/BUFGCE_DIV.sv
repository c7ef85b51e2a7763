// SPDX-License-Identifier: Apache-2.0
/// A clock divided, as far as boards/ uses it: here it is as fast as what comes.
module BUFGCE_DIV #(
    parameter int BUFGCE_DIVIDE = 1
) (
    input  logic I,
    input  logic CE,
    input  logic CLR,
    output logic O
);
  wire unused = &{1'b0, CE, CLR, 1'(BUFGCE_DIVIDE)};
  assign O = I;
endmodule

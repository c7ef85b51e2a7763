// SPDX-License-Identifier: Apache-2.0
/// A transceiver's reference clock, as far as boards/ uses it.
module IBUFDS_GTE4 #(
    parameter logic [1:0] REFCLK_HROW_CK_SEL = 2'b00
) (
    input  logic I,
    input  logic IB,
    input  logic CEB,
    output logic O,
    output logic ODIV2
);
  wire unused = &{1'b0, IB, CEB, REFCLK_HROW_CK_SEL};
  assign O = I;
  assign ODIV2 = I;
endmodule

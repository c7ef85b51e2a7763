// SPDX-License-Identifier: Apache-2.0
/// Lattice's delay of a pin, without one: edges are far apart in simulation.
module DELAYG #(
    parameter string DEL_MODE  = "",
    parameter int    DEL_VALUE = 0
) (
    input  logic A,
    output logic Z
);
  assign Z = A;
  wire unused = &{1'b0, 32'(DEL_VALUE), DEL_MODE == ""};
endmodule

# SPDX-License-Identifier: Apache-2.0
"""A block for tests of what looks at blocks."""

BLOCK = """\
// SPDX-License-Identifier: Apache-2.0
/// Counts the clocks in which it is enabled.
module tiny (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       en_i,
    output logic [7:0] count_o
);
  localparam int Two = 1 + 1;
  always_ff @(posedge clk_i) begin
    if (en_i) count_o <= count_o + 8'd1;
    if (rst_i) count_o <= '0;
  end
endmodule
"""

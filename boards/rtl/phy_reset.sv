// SPDX-License-Identifier: Apache-2.0
/// The reset of a PHY: `rst_no` is low until 2^Log clocks after `rst_i` has gone.
module phy_reset #(
    parameter int Log = 20
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic rst_no
);
  logic [Log:0] count_q;
  assign rst_no = count_q[Log];
  always_ff @(posedge clk_i) begin
    if (!rst_no) count_q <= count_q + 1'b1;
    if (rst_i) count_q <= '0;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// Whether capture runs: from the time it is turned on until all that was taken is in host memory.
///
/// `enable_o` is `enable_i` a clock later, so that settings written together with it have come when it does. `running_o` is high
/// with it, and after it until `busy_i` has been all low for `Quiet` clocks in a row: what is on its way between two blocks shows in
/// neither. Reset: not running.
module cap_running #(
    parameter int Busy  = 1,
    parameter int Quiet = 256
) (
    input logic clk_i,
    input logic rst_i,
    input logic enable_i,
    input logic [Busy-1:0] busy_i,
    output logic enable_o,
    output logic running_o
);
  localparam int CountW = $clog2(Quiet + 1);
  logic [CountW-1:0] left_q;  // clocks to go
  assign running_o = left_q != '0;
  always_ff @(posedge clk_i) begin
    enable_o <= enable_i;
    if (enable_i || (running_o && |busy_i)) left_q <= CountW'(Quiet);
    else if (running_o) left_q <= left_q - 1'b1;
    if (rst_i) begin
      enable_o <= 1'b0;
      left_q   <= '0;
    end
  end
endmodule

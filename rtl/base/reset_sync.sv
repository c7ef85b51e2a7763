// SPDX-License-Identifier: Apache-2.0
/// Brings a reset into a clock domain: it comes at once, whether the clock runs or not, and goes with the clock.
///
/// `rst_i` may come from anywhere at any time, for however short; `rst_o` follows it without a clock, and falls `Stages` clocks
/// after it has gone. The only register with an asynchronous set or reset there is (rtl/timing.toml names it).
module reset_sync #(
    parameter int Stages = 3
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic rst_o
);
  if (Stages < 2) begin : g_bad_parameter
    $fatal(1, "reset_sync: Stages %0d is below 2", Stages);
  end
  (* ASYNC_REG = "TRUE" *) logic [Stages-1:0] stage_q;
  assign rst_o = stage_q[Stages-1];

  always_ff @(posedge clk_i or posedge rst_i) begin
    if (rst_i) stage_q <= '1;
    else stage_q <= {stage_q[Stages-2:0], 1'b0};
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// setting_cross between two clocks of any ratio: only values that were there come out, in their order, the last of them always.
module setting_cross_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam logic [31:0] Reset = 32'd77;
  logic other = 0;
  int   half = 3;
  always #(half) other = !other;
  logic [31:0] value = Reset, setting, last = Reset;
  setting_cross #(
      .Width(32),
      .Reset(Reset)
  ) i_dut (
      .src_clk_i(clk),
      .src_rst_i(rst),
      .value_i  (value),
      .dst_clk_i(other),
      .dst_rst_i(rst),
      .setting_o(setting)
  );
  // Each value is that before with its high half one more, and the low half says which.
  always @(posedge other) begin
    if (!rst) begin
      `CHECK(setting == Reset || setting[31:16] == (setting[15:0] ^ 16'h5a5a),
             "a value that never was")
      `CHECK(last == Reset || setting[15:0] >= last[15:0], "an older value came back")
      last <= setting;
    end
  end
  initial begin
    logic [15:0] n;
    n = 0;
    @(negedge rst);
    repeat (50) @(posedge clk);
    `CHECK(setting == Reset, "not what it is after reset")
    for (int round = 0; round < 60; round++) begin
      half = round % 3 == 0 ? 1 : round % 3 == 1 ? 5 : 23;
      repeat ($urandom_range(
          9, 1
      )) begin
        n++;
        value = {n ^ 16'h5a5a, n};
        repeat ($urandom_range(4, 1)) @(posedge clk);
      end
      repeat (60) @(posedge other);
      repeat (60) @(posedge clk);
      `CHECK(setting == value, "the last value has not come")
    end
    `TB_PASS
  end
endmodule

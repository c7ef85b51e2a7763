// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// reg_range between two registers that take its hardware writes, as generated register blocks do: each value written is taken
/// for the nearest in the range, read as that, and told once when it was not in the range; held, it stays what it is.
module reg_range_tb;
  `TB_BEGIN
  `TB_TIMEOUT(10_000)

  localparam logic [1:0][31:0] Least = {32'd1, 32'd2500};
  localparam logic [1:0][31:0] Most = {32'd8, 32'hffff_ffff};
  logic [1:0][31:0] value, next, setting;
  logic [1:0] refused, hold = '0;
  reg_range #(
      .N(2),
      .Least(Least),
      .Most(Most)
  ) dut (
      .clk_i(clk),
      .value_i(value),
      .hold_i(hold),
      .next_o(next),
      .refused_o(refused),
      .setting_o(setting)
  );

  int unsigned told[2] = '{0, 0}, outside[2] = '{0, 0};
  always @(posedge clk) begin
    for (int i = 0; i < 2; i++) begin
      if (!rst && refused[i]) begin
        told[i]++;
        value[i] <= next[i];
      end
    end
  end

  task automatic put(int i, logic [31:0] wanted);
    logic [31:0] nearest = hold[i] ? setting[i] : wanted < Least[i] ? Least[i] : wanted > Most[i] ? Most[i] : wanted;
    if (wanted != nearest) outside[i]++;
    @(negedge clk);
    value[i] = wanted;
    repeat (2) @(negedge clk);
    `CHECK(setting[i] == nearest && value[i] == nearest,
           $sformatf("%0d taken for %0d, read as %0d", wanted, setting[i], value[i]))
    `CHECK(told[i] == outside[i], "what was refused was not told once")
  endtask

  initial begin
    value = {32'd8, 32'd2500};
    @(negedge rst);
    for (int i = 0; i < 2; i++) begin
      put(i, '0);
      put(i, '1);
      put(i, Least[i]);
      put(i, Least[i] - 1);
      put(i, Most[i]);
      repeat (100) begin
        hold[i] = $urandom_range(3) == 0;
        put(i, $urandom() >> $urandom_range(31));
      end
      hold[i] = 0;
    end
    `TB_PASS
  end
endmodule

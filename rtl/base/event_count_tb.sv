// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// event_count and change_detect against what a test counts and remembers itself.
module event_count_tb;
  `TB_BEGIN
  `TB_TIMEOUT(20_000)
  localparam int N = 5;
  logic [N-1:0] add = '0;
  logic [ 31:0] count;
  logic [  1:0] value = '0;
  logic changed, rose;
  event_count #(
      .N(N)
  ) i_count (
      .clk_i  (clk),
      .rst_i  (rst),
      .add_i  (add),
      .count_o(count)
  );
  change_detect #(
      .Width(2)
  ) i_change (
      .clk_i(clk),
      .rst_i(rst),
      .d_i(value),
      .changed_o(changed),
      .rose_o(rose)
  );

  initial begin
    int unsigned sum;
    logic [1:0] last;
    sum  = 0;
    last = '0;
    @(negedge rst);
    for (int n = 0; n < 5000; n++) begin
      @(negedge clk);
      `CHECK(count == sum, "wrong count")
      add = $urandom_range(2) == 0 ? '0 : N'($urandom);
      for (int i = 0; i < N; i++) sum += int'(add[i]);
      value = $urandom_range(2) == 0 ? 2'($urandom) : value;
      #1;
      `CHECK(changed == (value != last), "a change missed or made up")
      `CHECK(rose == (value != 0 && last == 0), "a rise missed or made up")
      last = value;
    end
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// ptp_period behind a clock of any frequency: each edge in the clock in which it belongs, across steps, sets and new starts.
module ptp_period_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(3_000_000)
  logic signed [31:0] adjust = 0, step = 0;
  logic step_valid = 0, set_valid = 0, run = 0;
  ptp_time_t set = 0, now, start = 0;
  logic [31:0] half = 100, unused_fraction;
  logic level;
  ptp_clock i_clock (
      .clk_i(clk),
      .rst_i(rst),
      .adjust_i(adjust),
      .step_valid_i(step_valid),
      .step_i(step),
      .set_valid_i(set_valid),
      .set_i(set),
      .time_o(now),
      .fraction_o(unused_fraction)
  );
  ptp_period dut (
      .clk_i  (clk),
      .rst_i  (rst),
      .time_i (now),
      .run_i  (run),
      .start_i(start),
      .half_i (half),
      .level_o(level)
  );

  // The model: edges by the time of two clocks ago.
  ptp_time_t earlier[2];
  ptp_time_t edge_at;
  logic last = 0;
  bit known = 0;
  int unsigned edges = 0;
  always @(negedge clk) begin
    if (known && level != last) begin
      `CHECK(earlier[1] - edge_at < 48'd5, $sformatf("an edge at %0d, due at %0d", earlier[1],
                                                     edge_at))
      edge_at += 48'(half);
      edges++;
    end else if (known) begin
      `CHECK($signed(earlier[1] - edge_at) < 0, $sformatf("no edge at %0d", edge_at))
    end
    earlier[1] = earlier[0];
    earlier[0] = now;
    last = level;
  end

  task automatic begin_at(ptp_time_t at, int unsigned ns, int unsigned gap = 4);
    @(negedge clk);
    known = 0;
    run   = 0;
    start = at;
    half  = ns;
    repeat (gap) @(negedge clk);
    `CHECK(!level, "low when it does not run")
    run = 1;
    #1 edge_at = at;
    known = 1;
  endtask

  initial begin
    @(negedge rst);
    repeat (10) @(posedge clk);
    for (int round = 0; round < 60; round++) begin
      int unsigned wanted;
      adjust = $urandom();
      begin_at(now + 48'($urandom_range(3000, 40)), $urandom_range(500, 20));
      wanted = edges + 50;
      while (edges < wanted) @(negedge clk);
      // Back in time: no edge until it is there again.
      step = -$signed($urandom_range(2000));
      step_valid = 1;
      @(negedge clk);
      step_valid = 0;
      wanted += 30;
      while (edges < wanted) @(negedge clk);
      if (round % 8 == 0) begin
        @(negedge clk);
        known = 0;
        run = 0;
        set = round % 16 == 0 ? '1 - 48'd2000 : {16'($urandom()), $urandom()};
        set_valid = 1;
        @(negedge clk);
        set_valid = 0;
      end
    end
    // Stopped for a clock, whenever that is.
    repeat (60) begin
      int unsigned wanted;
      begin_at(now + 48'($urandom_range(100, 40)), 20, 1);
      wanted = edges + 4;
      while (edges < wanted) @(negedge clk);
      repeat ($urandom_range(6)) @(negedge clk);
    end
    // What lies in the past is caught up with.
    adjust = 0;
    begin_at(now - 48'd5000, 40);
    known = 0;
    repeat (400) @(negedge clk);
    edge_at = start;
    while ($signed(now - edge_at) >= 0) edge_at += 48'(half);
    repeat (10) begin
      logic high;
      high = level;
      while (level == high) @(negedge clk);
      `CHECK((now - start) % 40 <= 48'd12, $sformatf("%0d ns behind an edge", (now - start) % 40))
    end
    `TB_PASS
  end
endmodule

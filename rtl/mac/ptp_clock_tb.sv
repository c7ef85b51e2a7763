// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// ptp_clock: every clock against a model in ns * 2^-32, and disciplined by a servo to a master of another frequency.
module ptp_clock_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(700_000)
  localparam logic [35:0] Slow = 36'h3_1a5e_353f;  // 3.103 ns

  logic signed [31:0] adjust = 0, step = 0;
  logic step_valid = 0, set_valid = 0;
  ptp_time_t set = 0, now, now_slow, now_free;
  logic [31:0] fraction, unused_slow, unused_free;

  ptp_clock dut (
      .clk_i(clk),
      .rst_i(rst),
      .adjust_i(adjust),
      .step_valid_i(step_valid),
      .step_i(step),
      .set_valid_i(set_valid),
      .set_i(set),
      .time_o(now),
      .fraction_o(fraction)
  );
  ptp_clock #(
      .Period(Slow)
  ) dut_slow (
      .clk_i(clk),
      .rst_i(rst),
      .time_o(now_slow),
      .fraction_o(unused_slow)
  );
  ptp_clock dut_free (
      .clk_i(clk),
      .rst_i(rst),
      .time_o(now_free),
      .fraction_o(unused_free)
  );

  // The model: what was given at this edge counts from the next edge on.
  logic [79:0] want = 0, due = 80'h4_0000_0000;
  longint unsigned clocks = 0;
  always @(posedge clk) begin
    if (!rst) begin
      clocks++;
      if (set_valid) want = {set, 32'd0};
      else want += due;
      due = 80'h4_0000_0000 + {{48{adjust[31]}}, adjust};
      if (step_valid) due += {{16{step[31]}}, step, 32'd0};
    end
  end
  always @(negedge clk) begin
    if (!rst) begin
      `CHECK(now == want[79:32], $sformatf("time %0d, not %0d", now, want[79:32]))
      `CHECK(fraction == want[31:0], "time is off by less than a nanosecond")
      `CHECK(now_free == 48'(4 * clocks), "the free running clock")
      `CHECK(now_slow == 48'((128'(Slow) * 128'(clocks)) >> 32),
             "the clock with a fractional period")
    end
  end

  task automatic set_to(ptp_time_t value);
    @(negedge clk);
    set = value;
    set_valid = 1;
    @(negedge clk);
    set_valid = 0;
  endtask

  // A slave that looks once in `Sync` clocks how far it is from a master whose clocks are `1 + ppm` long.
  localparam int Sync = 1000;
  task automatic follow_master(real ppm, ptp_time_t from);
    real master, offset, sum = 0;
    int late = 0;
    adjust = 0;
    repeat (2) @(negedge clk);
    set_to(from);
    master = real'(from) + 5000.0;
    for (int n = 0; n < 150; n++) begin
      repeat (Sync) @(negedge clk);
      master += 4.0 * Sync * (1.0 + ppm * 1e-6);
      offset = master - real'(now);
      if (offset > 1000.0 || offset < -1000.0) begin
        step = int'(offset);
        step_valid = 1;
        @(negedge clk);
        master += 4.0 * (1.0 + ppm * 1e-6);
        step_valid = 0;
      end else begin
        sum += 0.1 * offset;
        adjust = int'((0.6 * offset + sum) / Sync * 4294967296.0);
      end
      if (n >= 100) begin
        `CHECK(offset < 3.0 && offset > -3.0, $sformatf("%f ns from the master of %f ppm", offset,
                                                        ppm))
        late++;
      end
    end
    `CHECK(late == 50, "the servo ran")
  endtask

  initial begin
    ptp_time_t start;
    adjust = 32'sh4000_0000;  // what is said in a reset counts for nothing
    @(negedge rst);
    adjust = 0;
    repeat (100) @(posedge clk);
    // Reaction times that the header promises.
    @(negedge clk);
    set = 48'd1_000_000;
    set_valid = 1;
    @(negedge clk);
    `CHECK(now == 48'd1_000_000, "set, one clock later")
    set_valid = 0;
    step = -500;
    step_valid = 1;
    @(negedge clk);
    step_valid = 0;
    `CHECK(now == 48'd1_000_004, "the clock after a step")
    @(negedge clk);
    `CHECK(now == 48'd999_508, "stepped in the second clock")
    // The frequency: half an ns more for 1000 clocks.
    start  = now;
    adjust = 32'sh7fff_ffff;
    repeat (1001) @(negedge clk);
    `CHECK(now - start == 48'(4 + 4499), $sformatf("fast by an eighth: %0d", now - start))
    adjust = 32'sh8000_0000;
    // Across the end of the range.
    set_to('1 - 48'd100);
    repeat (100) @(negedge clk);
    `CHECK(now < 48'd400, $sformatf("past 2^48: %0d", now))
    // Anything at any time.
    repeat (20_000) begin
      @(negedge clk);
      step_valid = $urandom_range(7) == 0;
      set_valid = $urandom_range(31) == 0;
      step = $urandom();
      set = {16'($urandom()), $urandom()};
      if ($urandom_range(15) == 0) adjust = $urandom();
    end
    @(negedge clk);
    step_valid = 0;
    set_valid = 0;
    adjust = 0;
    follow_master(50.0, 48'd0);
    follow_master(-200.0, 48'd123_456_789);
    follow_master(0.0, 48'd77_000_000_000);
    `TB_PASS
  end
endmodule

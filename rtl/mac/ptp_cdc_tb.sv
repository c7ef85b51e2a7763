// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// ptp_cdc: error against the exact time for many pairs of clocks, frequency offsets and steps of the source; samples that come too late.
module ptp_cdc_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(4_000_000)

  // Clocks of any period in ps, from an edge that a delay moves: no two runs have the same phases. The core's leaves out some clocks.
  real core_period = 4.0, mac_period = 3.103, delay = 0.0;
  logic core_clk = 0, mac_clk = 0, reset = 1;
  logic mac_rst = 1;
  int unsigned leave_out = 0, left_out = 0;
  always begin
    #1.0 core_clk = 1;
    #1.0 core_clk = 0;
    #(core_period - 2.0);
    left_out  = leave_out;
    leave_out = 0;
    #(real'(left_out) * core_period);
  end
  always begin
    #(mac_period - 2.0 + delay) delay = 0.0;
    #1.0 mac_clk = 1;
    #1.0 mac_clk = 0;
  end
  always @(posedge mac_clk) mac_rst <= reset;

  // The source: whole ns and fraction, `rate` ns in each clock.
  real rate = 4.0, fraction = 0.0;
  realtime core_edge = 0;
  longint whole = 0, step = 0;
  ptp_time_t source = 0, now;
  always @(posedge core_clk) begin
    core_edge = $realtime;
    fraction += rate * real'(1 + left_out) + real'(step);
    step = 0;
    whole += longint'($floor(fraction));
    fraction -= $floor(fraction);
    source <= 48'(whole);
  end

  ptp_cdc dut (
      .clk_i(core_clk),
      .time_i(source),
      .mac_clk_i(mac_clk),
      .mac_rst_i(mac_rst),
      .time_o(now)
  );

  // Each MAC edge: the exact time there, and a little later what the device says.
  real error, worst, worst_of_all = 0.0, worst_at_4 = 0.0;
  bit bounded = 0, forwards = 0;
  real bound;
  ptp_time_t last = 0;
  realtime good_since = 0;
  always @(posedge mac_clk) begin
    longint at;
    real part;
    #0.001;  // after an edge of the core clock in the same ps
    at   = whole;
    part = fraction + ($realtime - 0.001 - core_edge) * rate / core_period;
    #0.2;
    error = real'($signed(48'(48'(now) - 48'(at)))) - part;
    if (error >= 10.0 || error <= -10.0) good_since = $realtime;
    if (bounded) begin
      if (error > worst) worst = error;
      if (-error > worst) worst = -error;
      `CHECK(error < bound && error > -bound, $sformatf("%f: error %f ns, core %f ns, MAC %f ns",
                                                        $realtime - begun_run, error, core_period,
                                                        mac_period))
    end
    if (forwards)
      `CHECK($signed(now - last) >= 0, $sformatf("backwards from %0d to %0d", last, now))
    last = now;
  end

  realtime begun_run;
  real settling = 0.0;
  real settle = 5000.0;
  task automatic start(real core, real mac, real ppm, longint from);
    reset = 1;
    forwards = 0;
    bounded = 0;
    core_period = core;
    mac_period = mac;
    delay = real'($urandom_range(10_000)) / 1000.0;
    #100;
    rate  = core * (1.0 + ppm * 1e-6);
    whole = from;
    #(real'($urandom_range(10_000)) / 1000.0);
    reset = 0;
    begun_run = $realtime;
    #50 forwards = from >= 0;  // the way to a time past 2^47 is backwards
    #(settle);
    if (good_since - begun_run > settling) settling = good_since - begun_run;
    `CHECK(good_since - begun_run < settle - 1.0, "not settled")
    bound = core == 4.0 && mac == 3.103 ? 3.0 : core <= 4.0 ? 5.0 : 9.0;
    worst = 0.0;
    forwards = 1;
    bounded = 1;
  endtask

  task automatic stepped(longint by);
    realtime begun;
    @(negedge core_clk);
    bounded = 0;
    forwards = by > -15;
    step = by;
    begun = $realtime;
    #1800;
    if (good_since > begun && good_since - begun > longest) longest = good_since - begun;
    `CHECK(good_since - begun < (mac_period <= 4.0 ? 600.0 : 1500.0),
           $sformatf("%f ns after a step by %0d, core %f ns, MAC %f ns", good_since - begun, by,
                     core_period, mac_period))
    #1500;
    bounded  = 1;
    forwards = 1;
    #1000;
  endtask
  real longest = 0.0, longest_fast = 0.0;

  // The MAC's side reset alone, in any clock of a round.
  task automatic again();
    realtime begun;
    bounded  = 0;
    forwards = 0;
    #(real'($urandom_range(300_000)) / 1000.0);
    reset = 1;
    #(real'($urandom_range(60_000, 10_000)) / 1000.0);
    reset = 0;
    begun = $realtime;
    #(settle);
    `CHECK(good_since - begun < settle - 1.0, "not settled again")
    forwards = 1;
    bounded  = 1;
    #1000;
  endtask

  // Core clocks are left out: no sample that comes after Compare counts. One that was asked for meanwhile and comes before it is newer than
  // it is taken for, by less than what a sample has until Compare.
  task automatic late_samples();
    real was = worst, normal = bound;
    forwards = 0;
    bound = 16.0 * mac_period + 30.0;
    #(real'($urandom_range(300_000)) / 1000.0);
    leave_out = $urandom_range(100, 20) * int'($ceil(mac_period / core_period));
    while (leave_out != 0 || left_out != 0) @(posedge core_clk);
    #3000;
    worst = was;
    bound = normal;
    forwards = 1;
    #1000;
  endtask

  task automatic run(real core, real mac, real ppm, longint from);
    start(core, mac, ppm, from);
    #8000;
    // The source's servo turns its frequency.
    rate = core * (1.0 + (ppm + 100.0) * 1e-6);
    #4000;
    stepped(12);
    stepped(-12);
    stepped(31);
    stepped(-31);
    stepped(-1000);
    stepped(64'd1 << 40);
    stepped(-(64'd1 << 40));
    stepped(longint'($urandom_range(2000)) - 1000);
    late_samples();
    again();
    if (worst > worst_of_all) worst_of_all = worst;
    if (core <= 4.0 && worst > worst_at_4) worst_at_4 = worst;
    if ($test$plusargs("verbose"))
      $display(
          "core %6.3f MAC %6.3f ppm %7.1f: worst %5.2f ns, longest step %6.1f ns",
          core,
          mac,
          ppm,
          worst,
          longest
      );
    if (mac <= 4.0 && longest > longest_fast) longest_fast = longest;
    if (longest > longest_of_all) longest_of_all = longest;
    longest = 0.0;
  endtask
  real longest_of_all = 0.0;

  real periods[8] = '{2.5, 3.103, 3.2, 4.0, 5.0, 6.4, 6.667, 10.0};
  initial begin
    #40;
    run(4.0, 3.103, 0.0, 0);
    run(4.0, 3.103, 100.0, 64'd1_790_000_000_000);
    run(4.0, 3.103, -5000.0, 64'd1 << 46);
    run(4.0, 4.0, 0.0, -2000);  // past 2^48, with a phase that never changes
    foreach (periods[c])
    foreach (periods[m]) run(periods[c], periods[m], real'($urandom_range(400)) - 200.0, 1_000_000);
    repeat ($test$plusargs(
        "long"
    ) ? 300 : 20)
    run(real'($urandom_range(10_000, 2500)) / 1000.0, real'($urandom_range(10_000, 2500)) / 1000.0,
        real'($urandom_range(400)) - 200.0, longint'($urandom()));
    // A beat of microseconds between the clocks: the jitter does not average out.
    run(4.0, 4.001, 0.0, 0);
    run(10.0, 9.999, 0.0, 0);
    run(10.0, 2.501, 0.0, 0);
    $display("worst error %5.2f ns, with a core clock from 250 MHz %5.2f ns", worst_of_all,
             worst_at_4);
    $display("longest settling %6.1f ns", settling);
    $display("longest step %6.1f ns, with a MAC clock from 250 MHz %6.1f ns", longest_of_all,
             longest_fast);
    `TB_PASS
  end
endmodule

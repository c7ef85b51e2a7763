// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`timescale 1ns / 1fs
/// ptp_clock and ptp_cdc: set, step and rate of the clock exact; its time in the MAC clock domain within 2 ns, whatever the
/// phase between the clocks, after start, set, step and change of rate, and monotonic while locked.
module ptp_cdc_tb;
  import eth_pkg::*;
  logic clk = 0, rst = 1, mac_clk = 0, mac_rst = 1;
  int unsigned seed = 1, checks = 0;
  real mac_half = 1.5515;
  always #2 clk = !clk;
  initial forever #(mac_half) mac_clk = !mac_clk;
  always @(posedge mac_clk) mac_rst <= rst;

  logic [39:0] period = 40'h4_0000_0000;
  logic set = 0, step = 0, locked;
  ptp_time_t set_time = 0, src_time, dst_time;
  logic signed [31:0] step_ns = 0;
  logic [31:0] fraction;
  ptp_clock clock (
      .clk_i(clk), .rst_i(rst), .period_i(period), .set_i(set), .set_time_i(set_time), .step_i(step), .step_ns_i(step_ns),
      .time_o(src_time), .fraction_o(fraction));
  ptp_cdc dut (
      .src_clk_i(clk), .src_rst_i(rst), .time_i(src_time), .fraction_i(fraction), .clk_i(mac_clk), .rst_i(mac_rst),
      .time_o(dst_time), .locked_o(locked));

  // Reference: the exact time, kept as integers.
  logic [79:0] model;
  realtime edge_at;
  ptp_time_t last_dst = 0;
  real worst = 0, mean = 0;
  int unsigned samples = 0;
  bit measure = 0;
  always @(posedge clk) begin
    if (!rst) `CHECK({src_time, fraction} == model, $sformatf("clock shows %h, not %h", {src_time, fraction}, model))
    edge_at = $realtime;
    if (rst) model = 0;
    else if (set) model = {set_time, 32'd0} + 80'(period);
    else model = model + 80'(period) + (step ? {{16{step_ns[31]}}, step_ns, 32'd0} : 80'd0);
  end
  always @(posedge mac_clk) begin
    if (measure) begin
      real want, off;
      // `model` is now the time of the next source edge.
      want = (real'(model >> 16) - real'(period >> 16)) / 65536.0 + ($realtime - edge_at) * real'(period) / 4.0 / 4294967296.0;
      off = real'(dst_time) + 0.5 - want;
      mean += off;
      samples++;
      if (off < 0) off = -off;
      if (off > worst) worst = off;
      `CHECK(dst_time > last_dst, "time stands still or goes back")
    end
    last_dst = dst_time;
  end

  task automatic settled(string what);
    repeat (20_000) @(posedge clk);  // 80 us
    `CHECK(locked, {"no lock after ", what})
    worst = 0;
    mean = 0;
    samples = 0;
    measure = 1;
    repeat (10_000) @(posedge clk);
    measure = 0;
    mean = mean / samples;
    $display("%s: worst %0.2f ns, mean %0.2f ns", what, worst, mean);
    `CHECK(worst < 2.0 && mean < 1.0 && mean > -1.0, $sformatf("%0.2f ns off, %0.2f in the mean after %s", worst, mean, what))
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    $display("seed %0d", seed);
    void'($urandom(seed));
    repeat (10) @(posedge clk);
    rst <= 0;
    settled("start");
    @(negedge clk);
    set = 1;
    set_time = 48'h1234_5678_9abc;
    @(negedge clk);
    set = 0;
    settled("set");
    @(negedge clk);
    step = 1;
    step_ns = -32'sd123_456;
    @(negedge clk);
    step = 0;
    settled("step");
    @(negedge clk);
    step = 1;
    step_ns = 32'sd11;  // too small for a jump: the loop pulls it in
    @(negedge clk);
    step = 0;
    settled("small step");
    @(negedge clk);
    period = 40'h4_0000_0000 + 40'(40'h4_0000_0000 / 5000);  // 200 ppm
    settled("rate change");
    for (int i = 0; i < 4; i++) begin
      mac_half = 1.5515 * (1.0 + (real'($urandom_range(400)) - 200.0) * 1e-6);
      settled($sformatf("MAC half period %0.4f ns", mac_half));
    end
    `TB_PASS
  end
endmodule

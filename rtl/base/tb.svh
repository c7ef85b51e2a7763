// SPDX-License-Identifier: Apache-2.0
// What every block test shares: a clock, a reset, a seed, checks that count.
`ifndef EMERY_TB_SVH
`define EMERY_TB_SVH

/// Declares clk, rst, seed and the check counter. Use once, first thing in the test's module.
`define TB_BEGIN \
  logic clk = 0, rst = 1; \
  int unsigned seed = 1, checks = 0; \
  always #5 clk = !clk; \
  initial begin \
    if (!$value$plusargs("seed=%d", seed)) seed = 1; \
    $display("seed %0d", seed); \
    void'($urandom(seed)); \
    repeat (4) @(posedge clk); \
    rst <= 0; \
  end

/// Stops the test with a message unless `cond` holds.
`define CHECK(cond, msg) \
  begin \
    checks++; \
    if (!(cond)) $fatal(1, "FAIL at %0t: %s", $time, msg); \
  end

/// Ends the test; one that checked nothing has failed.
`define TB_PASS \
  begin \
    if (checks == 0) $fatal(1, "FAIL: no check was made"); \
    $display("PASS %0d checks", checks); \
    $finish; \
  end

/// Ends the test when all parts of it are done, one bit each in `done`; how many checks each made is in `made`.
`define TB_PASS_WITH(done, made) \
  initial begin \
    @(negedge rst); \
    while (done != '1) @(posedge clk); \
    checks = made.sum(); \
    `TB_PASS \
  end

/// Fails a test that does not end.
`define TB_TIMEOUT(cycles) \
  initial begin \
    repeat (cycles) @(posedge clk); \
    $fatal(1, "FAIL: still running after %0d clocks", cycles); \
  end

`endif

// SPDX-License-Identifier: Apache-2.0
// Concurrent assertions that vanish in synthesis.
`ifndef EMERY_ASSERT_SVH
`define EMERY_ASSERT_SVH

`ifdef SYNTHESIS
`define ASSERT(name, prop, clk = clk_i, rst = rst_i)
`define COVER(name, prop, clk = clk_i, rst = rst_i)
`else
/// Property `prop` holds at each rising edge of `clk` outside reset.
`define ASSERT(name, prop, clk = clk_i, rst = rst_i) \
  name : assert property (@(posedge clk) disable iff (rst) (prop)) \
  else $error("%m: assertion failed: %s", `"prop`");
/// Property `prop` is seen at least once.
`define COVER(name, prop, clk = clk_i, rst = rst_i) \
  name : cover property (@(posedge clk) disable iff (rst) (prop));
`endif

`endif

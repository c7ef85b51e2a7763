// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Transmit scheduler of strict priorities: a queue is granted only when none of a higher priority has work (sched_classes).
///
/// A queue's share is its priority, 0 ... 7, 0 the highest; those of one have their turns one after another, and lower ones may starve.
/// What came with a higher priority in the two clocks before a grant comes after it.
module sched_strict
  import queue_pkg::*;
#(
    parameter int Queues = 256
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic         [3:0] max_burst_i,  // 1 ... 8
    input logic         [3:0] room_i,       // packets that may be granted: 0 ... 8
          reg_if.slave        regs,
          stream_if.snk       doorbell,     // queue_t
          stream_if.src       grant,        // grant_t
          stream_if.snk       granted       // granted_t
);
  localparam int Classes = 8;
  logic [Classes-1:0] some;
  logic [$clog2(Classes)-1:0] highest;
  logic unused_served;
  always_comb begin
    highest = '0;
    for (int i = Classes - 1; i >= 0; i--) if (some[i]) highest = 3'(i);
  end
  sched_classes #(
      .Queues (Queues),
      .Classes(Classes)
  ) i_classes (
      .clk_i,
      .rst_i,
      .max_burst_i,
      .room_i,
      .regs,
      .doorbell,
      .grant,
      .granted,
      .open_i  ('1),
      .some_o  (some),
      .chosen_i(highest),
      .served_o(unused_served)
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=30 timeout=300
`include "direct_scheduler_formal.svh"
/// direct_scheduler and two peers (see direct_scheduler_rig), in all that can happen in 30 clocks. That both get through, in their
/// turn, takes longer: direct_scheduler_formal has it for one peer, direct_scheduler_tb for several.
module direct_scheduler_pair_formal
  import direct_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic arrive_i,
    input logic peer_i,
    input logic wait_i
);
  `FORMAL_BEGIN
  logic [1:0] waits;
  logic leaves;
  scheduler_events_t events;
  direct_scheduler_rig #(
      .Peers(2)
  ) rig (
      .clk_i,
      .rst_i,
      .arrive_i,
      .peer_i,
      .wait_i,
      .waits_o (waits),
      .leaves_o(leaves),
      .events_o(events)
  );

  always_comb begin
    if (started_q) begin
      cover (events.null_req);
      cover (events.burst_received && waits == '1);
    end
  end
endmodule

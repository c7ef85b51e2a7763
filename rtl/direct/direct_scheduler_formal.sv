// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=54 timeout=600 suite=no
`include "direct_scheduler_formal.svh"
/// direct_scheduler and one peer (see direct_scheduler_rig): no deadlock of REQ, RES and burst without any timeout. A frame that
/// waits in an input FIFO leaves it within a fixed number of clocks; all that can happen in 54 clocks. Two peers:
/// direct_scheduler_pair_formal.
module direct_scheduler_formal
  import direct_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic arrive_i,
    input logic wait_i
);
  `FORMAL_BEGIN
  logic waits, leaves;
  scheduler_events_t events;
  direct_scheduler_rig rig (
      .clk_i,
      .rst_i,
      .arrive_i,
      .peer_i  (1'b0),
      .wait_i,
      .waits_o (waits),
      .leaves_o(leaves),
      .events_o(events)
  );

  localparam int Bound = 40;
  logic [6:0] age_q;
  always_ff @(posedge clk_i) begin
    age_q <= (waits && !leaves) ? age_q + 1'b1 : '0;
    if (rst_i) age_q <= '0;
  end

  always_comb begin
    if (started_q) begin
      assert (age_q <= 7'(Bound));
      cover (events.null_req);
      cover (events.burst_received && waits);
    end
  end
endmodule

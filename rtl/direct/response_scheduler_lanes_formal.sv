// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=40
`include "response_scheduler_formal.svh"
/// response_scheduler with three inputs and two lanes, and no timeout: the two grants are never to one input; a RES goes into a lane
/// without a grant, and grants no more than the room of that lane; the lane of new grants changes only to one that has neither a
/// grant nor a frame, after `Patience` clocks without a word. While one input at the most holds a grant and sends nothing for ever, and the
/// other lane is empty, another input that asks is offered its RES within Patience and four clocks. Counts up to 7 words here.
module response_scheduler_lanes_formal
  import direct_pkg::*, response_scheduler_formal_pkg::*;
(
    input logic                clk_i,
    input logic                rst_i,
    input logic     [1:0][2:0] room_i,
    input happens_t            now_i,
    input logic     [1:0]      word_i,
    input logic     [1:0]      done_i,
    input logic     [1:0]      broken_i,
    input logic     [1:0]      watched_i
);
  `FORMAL_BEGIN
  localparam int Patience = 4;
  localparam int Bound = Patience + 4;

  response_scheduler_rig #(
      .Lanes(2),
      .Patience(Patience)
  ) rig (
      .clk_i,
      .rst_i,
      .min_i('0),
      .timeout_i('0),
      .room_i,
      .now_i,
      .word_i,
      .done_i,
      .broken_i
  );

  logic lane_q, active_q;
  logic [1:0] open_q, empty_q, watched_q;
  logic [3:0] wait_q;
  wire holds = (rig.open[0] && rig.open_peer[0] == 4'(watched_i)) || (rig.open[1] && rig.open_peer[1] == 4'(watched_i));
  wire asks = rig.dut.asks_q[watched_i] && !holds;
  // One lane is free, and all of it is there.
  wire free = (!rig.open[0] && rig.empty[0]) || (!rig.open[1] && rig.empty[1]);
  always_ff @(posedge clk_i) begin
    lane_q <= rig.lane;
    open_q <= rig.open;
    empty_q <= rig.empty;
    watched_q <= watched_i;
    active_q <= 1'b1;
    if (!asks || !free || rig.want || now_i.req || word_i != '0) wait_q <= '0;
    else wait_q <= wait_q + 1'b1;
    if (rst_i) {wait_q, active_q} <= '0;
  end

  always_comb begin
    assume (watched_i < 2'(ProofPeers));
    if (started_q) begin
      assume (!active_q || watched_i == watched_q);
      assert (rig.open != 2'b11 || rig.open_peer[0] != rig.open_peer[1]);
      if (rig.want) begin
        assert (!rig.open[rig.lane] && rig.message.count[0] <= rig.room[rig.lane]);
        assert (!((rig.open[0] && rig.open_peer[0] == rig.peer) || (rig.open[1] && rig.open_peer[1] == rig.peer)));
      end
      if (active_q && rig.lane != lane_q)
        assert (open_q[lane_q] && !open_q[rig.lane] && empty_q[rig.lane]);
      assert (wait_q <= 4'(Bound));
      cover (rig.open == 2'b11);
      cover (active_q && rig.lane != lane_q && lane_q);
      cover (wait_q == 4'(Patience + 1));
    end
  end
endmodule

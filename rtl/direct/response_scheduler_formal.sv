// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=40
`include "response_scheduler_formal.svh"
/// response_scheduler with three inputs and two classes: a RES grants no more than the room, to no class more than it asked
/// for, to class 1 only what class 0 leaves; one grant at a time; an input that asks is passed at most once by each other one
/// and is offered its RES within three clocks after the grant before is over and there is room; a grant is over within a
/// fixed time (timeout of 4 clocks) after the last word of its burst, whatever the input does. Counts up to 7 words here.
module response_scheduler_formal
  import direct_pkg::*, response_scheduler_formal_pkg::*;
(
    input logic           clk_i,
    input logic           rst_i,
    input logic     [2:0] room_i,
    input logic     [2:0] min_i,
    input happens_t       now_i,
    input logic           word_i,
    input logic           done_i,
    input logic           broken_i,
    input logic     [1:0] watched_i,
    input logic     [1:0] other_i
);
  `FORMAL_BEGIN
  localparam int Bound = 5;  // a tick a clock, five of them, one clock to start

  response_scheduler_rig #(
      .Classes(2)
  ) rig (
      .clk_i,
      .rst_i,
      .min_i,
      .timeout_i(32'd4),
      .room_i,
      .now_i,
      .word_i,
      .done_i,
      .broken_i
  );

  // Outside view: what the watched input asks for.
  logic [1:0] watched_q, other_q, passed_q;
  logic [2:0] high_q, low_q, idle_q, min_q;
  logic [3:0] tag_q, age_q;
  wire asks = {high_q, low_q} != '0;
  wire asks_now = now_i.req && now_i.req_peer == watched_i;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    other_q <= other_i;
    min_q <= min_i;
    if (rig.take && rig.peer == 4'(watched_i)) {high_q, low_q} <= '0;
    if (asks_now) begin
      high_q <= now_i.count[0];
      low_q  <= now_i.count[1];
      tag_q  <= now_i.req_tag;
    end
    if (!asks || asks_now || (rig.take && rig.peer == 4'(watched_i))) passed_q <= '0;
    else if (rig.take && rig.peer == 4'(other_i)) passed_q <= passed_q + 1'b1;
    // With room for anything, and no REQ that changes its demand: clocks until a RES is offered.
    if (!asks || rig.open || rig.want || now_i.req || room_i < 3'(ProofWords)) idle_q <= '0;
    else idle_q <= idle_q + 1'b1;
    if (!rig.open || word_i || now_i.sent) age_q <= '0;
    else age_q <= age_q + 1'b1;
    if (rst_i) {high_q, low_q, passed_q, idle_q, age_q} <= '0;
  end

  always_comb begin
    assume (watched_i < 2'(ProofPeers) && other_i < 2'(ProofPeers) && other_i != watched_i);
    if (started_q) begin
      assume (watched_i == watched_q && other_i == other_q && min_i == min_q);
      if (rig.want) begin
        assert (rig.message.count[0] + rig.message.count[1] <= words_t'(room_i));
        assert (rig.message.count[1] == 0 || rig.message.count[0] == rig.dut.asked_q[rig.peer[1:0]][0]);
        assert (!rig.open);
        if (rig.peer == 4'(watched_i)) begin
          assert (asks && rig.message.tag == tag_q);
          assert (rig.message.count[0] <= words_t'(high_q) && rig.message.count[1] <= words_t'(low_q));
          // Hysteresis: enough room, or all that was asked for.
          assert (room_i >= min_i || 4'(high_q) + 4'(low_q) <= 4'(room_i));
          // All the room there is is given.
          assert (rig.message.count[0] == words_t'(high_q) || rig.message.count[0] == words_t'(room_i));
        end
      end
      assert (!rig.lane);
      assert (passed_q <= 1);
      assert (idle_q <= 2);
      assert (age_q <= 4'(Bound));
      if (asks) assert (rig.dut.asks_q[watched_i] && rig.dut.tag_q[watched_i] == tag_q);
      if (asks) assert (rig.dut.asked_q[watched_i][0] == words_t'(high_q));
      if (asks) assert (rig.dut.asked_q[watched_i][1] == words_t'(low_q));
      cover (passed_q == 1 && rig.want && rig.peer == 4'(watched_i));
      cover (rig.timeout);
      cover (rig.cancel && !rig.timeout);
      cover (rig.want && rig.message.count[1] != 0 && rig.message.count[1] < words_t'(low_q) && rig.peer == 4'(watched_i));
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=40
`include "formal.svh"
/// response_scheduler with three inputs and two classes: a RES grants no more than the room, to no class more than it asked
/// for, to class 1 only what class 0 leaves; one grant at a time; an input that asks is passed at most once by each other one
/// and is offered its RES within three clocks after the grant before is over and there is room; a grant is over within a
/// fixed time (timeout of 4 clocks) after the last word of its burst, whatever the input does. Counts up to 7 words here.
module response_scheduler_formal
  import direct_pkg::*, route_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic [2:0] room_i,
    input logic [2:0] min_i,
    input logic       req_i,
    input logic       req_own_i,
    input logic [1:0] req_peer_i,
    input logic [3:0] req_tag_i,
    input logic [2:0] high_i,
    input logic [2:0] low_i,
    input logic       take_i,
    input logic       sent_i,
    input logic       aborted_i,
    input logic [1:0] sent_peer_i,
    input logic [3:0] sent_tag_i,
    input logic       word_i,
    input logic       done_i,
    input logic       broken_i,
    input logic [1:0] watched_i,
    input logic [1:0] other_i
);
  `FORMAL_BEGIN
  localparam int Peers = 3;
  localparam int Capacity = 7;
  localparam int Bound = 5;  // a tick a clock, five of them, one clock to start

  message_t req, res;
  logic lane, want, open, cancel, timeout;
  peer_t peer, open_peer;
  logic [3:0] open_tag;
  response_scheduler #(
      .Peers(Peers),
      .Classes(2),
      .FifoBytes(8 * Capacity)
  ) dut (
      .clk_i,
      .rst_i,
      .min_words_i(words_t'(min_i)),
      .timeout_i(32'd4),
      .room_i(words_t'(room_i)),
      .empty_i(1'b1),
      .lane_o(lane),
      .req_i,
      .req_own_i,
      .req_peer_i(4'(req_peer_i)),
      .req_message_i(req),
      .want_o(want),
      .peer_o(peer),
      .message_o(res),
      .take_i(take_i && want),
      .sent_i,
      .sent_aborted_i(aborted_i && sent_i),
      .sent_peer_i(4'(sent_peer_i)),
      .sent_tag_i,
      .open_o(open),
      .open_peer_o(open_peer),
      .open_tag_o(open_tag),
      .burst_word_i(word_i),
      .burst_done_i(done_i),
      .burst_broken_i(broken_i),
      .cancel_o(cancel),
      .timeout_o(timeout)
  );
  always_comb begin
    req = '0;
    req.kind = Request;
    req.tag = req_tag_i;
    req.count[0] = words_t'(high_i);
    req.count[1] = words_t'(low_i);
  end
  wire take = take_i && want;

  // Outside view: what the watched input asks for.
  logic [1:0] watched_q, other_q, passed_q;
  logic [2:0] high_q, low_q, idle_q, min_q;
  logic [3:0] tag_q, age_q;
  wire asks = {high_q, low_q} != '0;
  wire asks_now = req_i && req_peer_i == watched_i;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    other_q <= other_i;
    min_q <= min_i;
    if (take && peer == 4'(watched_i)) {high_q, low_q} <= '0;
    if (asks_now) begin
      high_q <= high_i;
      low_q  <= low_i;
      tag_q  <= req_tag_i;
    end
    if (!asks || asks_now || (take && peer == 4'(watched_i))) passed_q <= '0;
    else if (take && peer == 4'(other_i)) passed_q <= passed_q + 1'b1;
    // With room for anything, and no REQ that changes its demand: clocks until a RES is offered.
    if (!asks || open || want || req_i || room_i < 3'(Capacity)) idle_q <= '0;
    else idle_q <= idle_q + 1'b1;
    if (!open || word_i || sent_i) age_q <= '0;
    else age_q <= age_q + 1'b1;
    if (rst_i) {high_q, low_q, passed_q, idle_q, age_q} <= '0;
  end

  always_comb begin
    assume (watched_i < 2'(Peers) && other_i < 2'(Peers) && other_i != watched_i);
    assume (req_peer_i < 2'(Peers) && sent_peer_i < 2'(Peers));
    // Words of the granted burst come while the grant is open only.
    if (word_i || done_i || broken_i) assume (open);
    if (done_i || broken_i) assume (word_i);
    assume (!(word_i && req_i && req_own_i));
    if (started_q) begin
      assume (watched_i == watched_q && other_i == other_q && min_i == min_q);
      if (want) begin
        assert (res.count[0] + res.count[1] <= words_t'(room_i));
        assert (res.count[1] == 0 || res.count[0] == dut.asked_q[peer[1:0]][0]);
        assert (!open);
        if (peer == 4'(watched_i)) begin
          assert (asks && res.tag == tag_q);
          assert (res.count[0] <= words_t'(high_q) && res.count[1] <= words_t'(low_q));
          // Hysteresis: enough room, or all that was asked for.
          assert (room_i >= min_i || 4'(high_q) + 4'(low_q) <= 4'(room_i));
          // All the room there is is given.
          assert (res.count[0] == words_t'(high_q) || res.count[0] == words_t'(room_i));
        end
      end
      assert (!lane);
      assert (passed_q <= 1);
      assert (idle_q <= 2);
      assert (age_q <= 4'(Bound));
      if (asks) assert (dut.asks_q[watched_i] && dut.tag_q[watched_i] == tag_q);
      if (asks) assert (dut.asked_q[watched_i][0] == words_t'(high_q));
      if (asks) assert (dut.asked_q[watched_i][1] == words_t'(low_q));
      cover (passed_q == 1 && want && peer == 4'(watched_i));
      cover (timeout);
      cover (cancel && !timeout);
      cover (want && res.count[1] != 0 && res.count[1] < words_t'(low_q) && peer == 4'(watched_i));
    end
  end
endmodule

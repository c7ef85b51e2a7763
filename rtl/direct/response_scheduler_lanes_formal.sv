// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=40
`include "formal.svh"
/// response_scheduler with three inputs and two lanes, and no timeout: the two grants are never to one input; a RES goes into a lane
/// without a grant, and grants no more than the room of that lane; the lane of new grants changes only to one that has neither a
/// grant nor a frame, after `Patience` clocks without a word. While one input at the most holds a grant and sends nothing for ever, and the
/// other lane is empty, another input that asks is offered its RES within Patience and four clocks. Counts up to 7 words here.
module response_scheduler_lanes_formal
  import direct_pkg::*, route_pkg::*;
(
    input logic            clk_i,
    input logic            rst_i,
    input logic [1:0][2:0] room_i,
    input logic            req_i,
    input logic            req_own_i,
    input logic [1:0]      req_peer_i,
    input logic [3:0]      req_tag_i,
    input logic [2:0]      count_i,
    input logic            take_i,
    input logic            sent_i,
    input logic            aborted_i,
    input logic [1:0]      sent_peer_i,
    input logic [3:0]      sent_tag_i,
    input logic [1:0]      word_i,
    input logic [1:0]      done_i,
    input logic [1:0]      broken_i,
    input logic [1:0]      watched_i
);
  `FORMAL_BEGIN
  localparam int Peers = 3;
  localparam int Capacity = 7;
  localparam int Patience = 4;
  localparam int Bound = Patience + 4;

  message_t req, res;
  logic lane, want, timeout;
  logic [1:0] open, cancel, empty;
  peer_t peer;
  peer_t [1:0] open_peer;
  logic [1:0][3:0] open_tag;
  words_t [1:0] room;
  for (genvar l = 0; l < 2; l++) begin : g_lane
    assign room[l]  = words_t'(room_i[l]);
    assign empty[l] = room_i[l] == 3'(Capacity);
  end
  response_scheduler #(
      .Peers(Peers),
      .Classes(1),
      .FifoBytes(8 * Capacity),
      .Lanes(2),
      .Patience(Patience)
  ) dut (
      .clk_i,
      .rst_i,
      .min_words_i('0),
      .timeout_i('0),
      .room_i(room),
      .empty_i(empty),
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
    req.count[0] = words_t'(count_i);
  end

  logic lane_q, active_q;
  logic [1:0] open_q, empty_q, watched_q;
  logic [3:0] wait_q;
  wire holds = (open[0] && open_peer[0] == 4'(watched_i)) || (open[1] && open_peer[1] == 4'(watched_i));
  wire asks = dut.asks_q[watched_i] && !holds;
  // One lane is free, and all of it is there.
  wire free = (!open[0] && empty[0]) || (!open[1] && empty[1]);
  always_ff @(posedge clk_i) begin
    lane_q <= lane;
    open_q <= open;
    empty_q <= empty;
    watched_q <= watched_i;
    active_q <= 1'b1;
    if (!asks || !free || want || req_i || word_i != '0) wait_q <= '0;
    else wait_q <= wait_q + 1'b1;
    if (rst_i) {wait_q, active_q} <= '0;
  end

  always_comb begin
    assume (watched_i < 2'(Peers) && req_peer_i < 2'(Peers) && sent_peer_i < 2'(Peers));
    assume ((word_i & ~open) == '0 && ((done_i | broken_i) & ~word_i) == '0);
    assume (word_i != 2'b11 && !(word_i != '0 && req_i && req_own_i));
    if (started_q) begin
      assume (!active_q || watched_i == watched_q);
      assert (open != 2'b11 || open_peer[0] != open_peer[1]);
      if (want) begin
        assert (!open[lane] && res.count[0] <= room[lane]);
        assert (!((open[0] && open_peer[0] == peer) || (open[1] && open_peer[1] == peer)));
      end
      if (active_q && lane != lane_q) assert (open_q[lane_q] && !open_q[lane] && empty_q[lane]);
      assert (wait_q <= 4'(Bound));
      cover (open == 2'b11);
      cover (active_q && lane != lane_q && lane_q);
      cover (wait_q == 4'(Patience + 1));
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=40
`include "formal.svh"
/// request_scheduler with three outputs: an active output is passed at most once by each other one and is offered a REQ
/// whenever no other is waiting for its RES (without OneAtATime, request_scheduler_open_formal: always); that wait is over within a fixed time (timeout of 4 clocks, so 16 for a RES) even
/// if no RES ever comes; an output with a REQ unanswered, a RES unused or a burst under way gets no second REQ; only a RES with
/// the latest tag counts. Relies on: a burst follows a RES, and ends with one trailing REQ or is aborted.
module request_scheduler_formal
  import route_pkg::*;
#(
    parameter bit OneAtATime = 1'b1
) (
    input logic       clk_i,
    input logic       rst_i,
    input logic [2:0] waiting_i,
    input logic       take_i,
    input logic       start_i,           // a burst to `start_peer_i`
    input logic [1:0] start_peer_i,
    input logic       trailing_i,
    input logic       null_i,
    input logic       end_i,
    input logic       abort_i,
    input logic       res_i,
    input logic [1:0] res_peer_i,
    input logic [3:0] res_tag_i,
    input logic       req_abort_i,
    input logic [1:0] req_abort_peer_i,
    input logic [3:0] req_abort_tag_i,
    input logic [1:0] watched_i,
    input logic [1:0] other_i
);
  `FORMAL_BEGIN
  localparam int Peers = 3;
  localparam int Bound = 21;  // five ticks, each 4 clocks, and one clock to see it

  logic [2:0] granted_q, bursting_q, silent;
  logic trailed_q, want, awaited, timeout;
  peer_t peer, burst_peer_q;
  logic [3:0] tag, trailing_tag;
  request_scheduler #(
      .Peers(Peers),
      .OneAtATime(OneAtATime)
  ) dut (
      .clk_i,
      .rst_i,
      .timeout_i(32'd4),
      .retry_i(32'd4),
      .waiting_i,
      .granted_i(granted_q),
      .bursting_i(bursting_q),
      .want_o(want),
      .peer_o(peer),
      .tag_o(tag),
      .take_i(take_i && want),
      .trailing_i,
      .trailing_null_i(null_i),
      .burst_peer_i(burst_peer_q),
      .trailing_tag_o(trailing_tag),
      .res_i,
      .res_peer_i(4'(res_peer_i)),
      .res_tag_i,
      .res_awaited_o(awaited),
      .req_aborted_i(req_abort_i),
      .req_aborted_peer_i(4'(req_abort_peer_i)),
      .req_aborted_tag_i(req_abort_tag_i),
      .burst_aborted_i(abort_i),
      .silent_o(silent),
      .timeout_o(timeout)
  );
  wire take = take_i && want;

  logic [1:0] watched_q, other_q;
  logic [1:0] passed_q;
  logic [4:0] round_q;
  wire active = waiting_i[watched_i] && !dut.asked_q[watched_i] && !granted_q[watched_i] &&
      !bursting_q[watched_i] && !silent[watched_i];

  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    other_q   <= other_i;
    if (awaited) granted_q[res_peer_i] <= 1'b1;
    if (start_i) begin
      granted_q[start_peer_i] <= 1'b0;
      bursting_q[start_peer_i] <= 1'b1;
      burst_peer_q <= 4'(start_peer_i);
      trailed_q <= 1'b0;
    end
    if (trailing_i) trailed_q <= 1'b1;
    if (end_i || abort_i) bursting_q <= '0;
    if (abort_i) granted_q[burst_peer_q[1:0]] <= 1'b0;
    if (!active || (take && peer == 4'(watched_i))) passed_q <= '0;
    else if (take && peer == 4'(other_i)) passed_q <= passed_q + 1'b1;
    round_q <= dut.round_q ? round_q + 1'b1 : '0;
    if (rst_i) {granted_q, bursting_q, burst_peer_q, passed_q, round_q, trailed_q} <= '0;
  end

  always_comb begin
    assume (watched_i < 2'(Peers) && other_i < 2'(Peers) && other_i != watched_i);
    assume (res_peer_i < 2'(Peers) && req_abort_peer_i < 2'(Peers) && start_peer_i < 2'(Peers));
    if (start_i) assume (started_q && bursting_q == '0 && granted_q[start_peer_i]);
    if (trailing_i) assume (bursting_q != '0 && !trailed_q);
    if (end_i || abort_i) assume (bursting_q != '0 && trailed_q);
    assume (!(end_i && abort_i));
    if (started_q) begin
      assume (watched_i == watched_q && other_i == other_q);
      assert ((dut.asked_q & silent) == '0);
      assert ((dut.asked_q & granted_q) == '0);
      assert ((bursting_q & (bursting_q - 1'b1)) == '0);
      assert (passed_q <= 1);
      assert (round_q <= 5'(Bound));
      // No peer is active in vain while no other waits for its RES.
      if (active && !dut.round_q) assert (want);
      if (want)
        assert (waiting_i[peer[1:0]] && !granted_q[peer[1:0]] && !bursting_q[peer[1:0]] &&
                !silent[peer[1:0]]);
      if (awaited) assert (res_tag_i == dut.tag_q[res_peer_i]);
      cover (passed_q == 1 && dut.pointer_q == 4'(other_i) && want && peer == 4'(watched_i));
      if (OneAtATime) cover (round_q == 5'(Bound));
      else begin
        assert (!dut.round_q);
        cover (dut.asked_q == '1);
      end
      cover (timeout);
      cover (awaited && bursting_q[res_peer_i]);
    end
  end
endmodule

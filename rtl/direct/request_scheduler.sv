// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Who gets a REQ (direct-router paper, section III-B1), and how each output stands with this input.
///
/// An output is active when frames wait for it that no REQ announced: no REQ is unanswered, no RES unused, no burst under
/// way. (That is the paper's rule, an arrival when all FIFOs of the output are empty, as a level: nothing that arrives between
/// a null REQ and the end of its burst is forgotten.) Active outputs are served round robin. With `OneAtATime` (the paper's rule)
/// the next REQ waits until the RES to the one before has come; without it each output has a REQ of its own open, and none waits
/// for what another answers. REQs that end bursts are noted here too, each REQ gets the next tag.
/// An output that does not answer for 4 * `timeout_i` clocks, or whose REQ ends in an abort, is left alone for `retry_i`
/// clocks. (An output waits `timeout_i` for a dead input's burst; its living inputs must outlast that.) `take_i` picks what
/// `want_o`, `peer_o`, `tag_o` show in that clock. Reset forgets all.
module request_scheduler
  import route_pkg::*;
#(
    parameter int Peers = 7,
    parameter bit OneAtATime = 1'b1
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic  [     31:0] timeout_i,
    input  logic  [     31:0] retry_i,
    // Frames wait for the output; it holds a RES that is not used up, or a burst is under way
    input  logic  [Peers-1:0] waiting_i,
    input  logic  [Peers-1:0] granted_i,
    input  logic  [Peers-1:0] bursting_i,
    // A REQ of its own
    output logic              want_o,
    output peer_t             peer_o,
    output logic  [      3:0] tag_o,
    input  logic              take_i,
    // The REQ at the end of a burst to `burst_peer_i`, and its tag
    input  logic              trailing_i,
    input  logic              trailing_null_i,
    input  peer_t             burst_peer_i,
    output logic  [      3:0] trailing_tag_o,
    // A RES came: is it the one awaited?
    input  logic              res_i,
    input  peer_t             res_peer_i,
    input  logic  [      3:0] res_tag_i,
    output logic              res_awaited_o,
    // A REQ, or a burst, that ended in an abort
    input  logic              req_aborted_i,
    input  peer_t             req_aborted_peer_i,
    input  logic  [      3:0] req_aborted_tag_i,
    input  logic              burst_aborted_i,     // to burst_peer_i
    output logic  [Peers-1:0] silent_o,
    output logic              timeout_o
);
  typedef logic [(Peers > 1 ? $clog2(Peers) : 1)-1:0] index_t;
  // By output: a REQ is unanswered; left alone; ticks in either.
  logic [Peers-1:0] asked_q, silent_q;
  logic [Peers-1:0][2:0] age_q;
  logic [Peers-1:0][3:0] tag_q;  // of the last REQ
  // The REQ of its own that all others wait for, with OneAtATime.
  logic round_q;
  peer_t pointer_q;  // where the last one went

  logic timeout_tick, retry_tick;
  age_tick i_timeout (
      .clk_i,
      .rst_i,
      .limit_i(|timeout_i[31:30] ? '1 : {timeout_i[29:0], 2'b00}),
      .tick_o (timeout_tick)
  );
  age_tick i_retry (
      .clk_i,
      .rst_i,
      .limit_i({retry_i[31:3], retry_i[2:0] | 3'd4}),
      .tick_o (retry_tick)
  );

  wire [Peers-1:0] active = waiting_i & ~asked_q & ~granted_i & ~bursting_i & ~silent_q;

  // The first active output after the pointer, or else the first one.
  always_comb begin
    peer_o = '0;
    for (int p = Peers - 1; p >= 0; p--) if (active[p]) peer_o = peer_t'(p);
    for (int p = Peers - 1; p >= 0; p--)
    if (active[p] && peer_t'(p) > pointer_q) peer_o = peer_t'(p);
  end
  assign want_o = |active && !round_q;
  assign tag_o = tag_q[index_t'(peer_o)] + 1'b1;
  assign trailing_tag_o = tag_q[index_t'(burst_peer_i)] + 1'b1;
  assign res_awaited_o = res_i && asked_q[index_t'(res_peer_i)] && tag_q[index_t'(res_peer_i)] == res_tag_i;

  // Outputs that are given up in this clock. The answer that comes in the same clock counts.
  logic [Peers-1:0] expired, given_up;
  wire not_taken = req_aborted_i && tag_q[index_t'(req_aborted_peer_i)] == req_aborted_tag_i;
  always_comb begin
    expired  = '0;
    given_up = '0;
    for (int p = 0; p < Peers; p++) begin
      if (asked_q[p] && !(res_awaited_o && res_peer_i == peer_t'(p))) begin
        expired[p]  = age_q[p] == 3'd4 && timeout_tick;
        given_up[p] = expired[p] || (not_taken && req_aborted_peer_i == peer_t'(p));
      end
      if (burst_aborted_i && burst_peer_i == peer_t'(p)) given_up[p] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Peers; p++) begin
      if ((asked_q[p] && timeout_tick) || (silent_q[p] && retry_tick)) age_q[p] <= age_q[p] + 1'b1;
      if (silent_q[p] && retry_tick && age_q[p] == 3'd4) silent_q[p] <= 1'b0;
    end
    if (take_i) begin
      asked_q[index_t'(peer_o)] <= 1'b1;
      age_q[index_t'(peer_o)] <= '0;
      tag_q[index_t'(peer_o)] <= tag_o;
      pointer_q <= peer_o;
      round_q <= OneAtATime;
    end
    if (trailing_i) begin
      asked_q[index_t'(burst_peer_i)] <= !trailing_null_i;
      age_q[index_t'(burst_peer_i)]   <= '0;
      tag_q[index_t'(burst_peer_i)]   <= trailing_tag_o;
    end
    if (res_awaited_o) asked_q[index_t'(res_peer_i)] <= 1'b0;
    for (int p = 0; p < Peers; p++) begin
      if (given_up[p]) begin
        asked_q[p]  <= 1'b0;
        silent_q[p] <= 1'b1;
        age_q[p]    <= '0;
      end
    end
    if (round_q && !asked_q[index_t'(pointer_q)]) round_q <= 1'b0;
    if (rst_i) begin
      asked_q <= '0;
      silent_q <= '0;
      tag_q <= '0;
      round_q <= 1'b0;
      pointer_q <= '0;
    end
  end
  assign silent_o  = silent_q;
  assign timeout_o = |expired;

  `ASSERT(TakesWhatIsThere, !take_i || want_o)
  `ASSERT(OneStateEach, (asked_q & silent_q) == '0)
  `ASSERT(RoundHasAnOwner, !(want_o && round_q))
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Who may send how much (direct-router paper, section III-B2).
///
/// Keeps the latest REQ of each input. One RES at a time, round robin: the next one waits until the burst that answers it has
/// come with its trailing REQ. A RES grants the output FIFO's room by strict priority: to class 0 what it asked for, then to
/// class 1, and so on. With `min_words_i` it waits for that much room, or for all that was asked for; with 0 it never waits.
/// With two `Lanes` (not in the paper) the output has two FIFOs, and a grant open in each, to different inputs: an input that sends
/// nothing holds up nobody while the other lane goes on. New grants go into lane `lane_o`; it changes when of the burst that was
/// granted there nothing has come for `Patience` clocks, others ask, and the other lane has no grant and no frame (`empty_i`).
/// So all frames in the lane that is not `lane_o` are older than those of the same inputs in `lane_o`, and leave first
/// (direct_output).
/// The grant ends without a burst when the input asks anew by itself (it gave up), when the RES is aborted, when its burst
/// is malformed, or when nothing of the burst comes for `timeout_i` clocks. `take_i` picks what `want_o` and `message_o` show
/// in that clock. Reset forgets all.
module response_scheduler
  import direct_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int FifoBytes = 15360,  // of the output FIFO, of each lane
    parameter int Lanes = 1,  // or 2
    parameter int Patience = 2048  // a power of 2
) (
    input logic clk_i,
    input logic rst_i,
    input words_t min_words_i,
    input logic [31:0] timeout_i,
    input words_t [Lanes-1:0] room_i,
    input logic [Lanes-1:0] empty_i,
    output logic lane_o,
    // A REQ from an input: of its own, or at the end of a burst
    input logic req_i,
    input logic req_own_i,
    input peer_t req_peer_i,
    input message_t req_message_i,
    // The RES
    output logic want_o,
    output peer_t peer_o,
    output message_t message_o,
    input logic take_i,
    // How a RES ended on the bus
    input logic sent_i,
    input logic sent_aborted_i,
    input peer_t sent_peer_i,
    input logic [3:0] sent_tag_i,
    // The open grant of a lane; its burst: a word came, the trailing REQ came, it cannot be read
    output logic [Lanes-1:0] open_o,
    output peer_t [Lanes-1:0] open_peer_o,
    output logic [Lanes-1:0][3:0] open_tag_o,
    input logic [Lanes-1:0] burst_word_i,
    input logic [Lanes-1:0] burst_done_i,
    input logic [Lanes-1:0] burst_broken_i,
    output logic [Lanes-1:0] cancel_o,  // the grant ends in this clock, without its burst
    output logic timeout_o
);
  if (Lanes != 1 && Lanes != 2) begin : g_bad_lanes
    $fatal(1, "response_scheduler: Lanes %0d is not 1 or 2", Lanes);
  end
  typedef logic [(Peers > 1 ? $clog2(Peers) : 1)-1:0] index_t;
  localparam words_t Capacity = words_t'(FifoBytes / 8);

  // The REQs.
  logic [Peers-1:0] asks_q;
  words_t [Classes-1:0] asked_q[Peers];
  logic [3:0] tag_q[Peers];
  logic [UnitsW+1:0] sum_req;
  always_comb begin
    sum_req = '0;
    for (int c = 0; c < Classes; c++) sum_req += (UnitsW + 2)'(req_message_i.count[c]);
  end

  // The grants, and the lane of the next one.
  logic [Lanes-1:0] open_q;
  peer_t [Lanes-1:0] open_peer_q;
  logic [Lanes-1:0][3:0] open_tag_q;
  logic lane_q;
  wire other = Lanes > 1 && !lane_q;
  logic [Peers-1:0] asking;  // inputs without a grant
  always_comb begin
    asking = asks_q;
    for (int l = 0; l < Lanes; l++) if (open_q[l]) asking[index_t'(open_peer_q[l])] = 1'b0;
  end
  // Clocks since the last word of the burst into lane_q, or since its RES.
  localparam int QuietW = $clog2(Patience) + 1;
  logic [QuietW-1:0] quiet_q;
  wire long_quiet = quiet_q[QuietW-1];
  wire change = Lanes > 1 && open_q[lane_q] && long_quiet && !open_q[other] && empty_i[other] && |asking;
  assign lane_o = lane_q;

  // The choice, made one clock before it may be offered.
  logic chosen_q;
  peer_t choice_q, pointer_q, next;
  words_t needs_q;  // room to wait for
  logic [UnitsW+1:0] sum_next;
  words_t least;
  always_comb begin
    next = '0;
    for (int p = Peers - 1; p >= 0; p--) if (asking[p]) next = peer_t'(p);
    for (int p = Peers - 1; p >= 0; p--) if (asking[p] && peer_t'(p) > pointer_q) next = peer_t'(p);
    sum_next = '0;
    for (int c = 0; c < Classes; c++) sum_next += (UnitsW + 2)'(asked_q[index_t'(next)][c]);
    least = min_words_i < Capacity ? min_words_i : Capacity;
    if (sum_next < (UnitsW + 2)'(least)) least = words_t'(sum_next);
  end

  // Strict priority over the classes.
  wire words_t room = room_i[lane_q];
  words_t left;
  always_comb begin
    message_o = '0;
    message_o.kind = Respond;
    message_o.tag = tag_q[index_t'(choice_q)];
    left = room;
    for (int c = 0; c < Classes; c++) begin
      message_o.count[c] = asked_q[index_t'(choice_q)][c] < left ? asked_q[index_t'(choice_q)][c] : left;
      left = left - message_o.count[c];
    end
  end
  assign peer_o = choice_q;
  // A REQ that comes just now would make the RES a stale one.
  assign want_o = chosen_q && room >= needs_q && !(req_i && req_peer_i == choice_q);

  // How a grant ends.
  logic tick;
  logic [Lanes-1:0][2:0] age_q;
  age_tick i_timeout (
      .clk_i,
      .rst_i,
      .limit_i(timeout_i),
      .tick_o (tick)
  );
  logic [Lanes-1:0] given_up, sent, expired;
  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      given_up[l] = req_i && req_own_i && req_peer_i == open_peer_q[l];
      sent[l] = sent_peer_i == open_peer_q[l] && sent_tag_i == open_tag_q[l];
      expired[l] = open_q[l] && tick && age_q[l] == 3'd4 && !burst_word_i[l];
    end
  end
  assign timeout_o = |expired;
  assign cancel_o = open_q & ~burst_done_i & (given_up | ({Lanes{sent_aborted_i}} & sent) | expired | burst_broken_i);
  assign open_o = open_q;
  assign open_peer_o = open_peer_q;
  assign open_tag_o = open_tag_q;

  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      if (tick) age_q[l] <= age_q[l] + 1'b1;
      if (burst_word_i[l] || (sent_i && sent[l])) age_q[l] <= '0;
      if (burst_done_i[l] || cancel_o[l]) open_q[l] <= 1'b0;
    end
    if (!long_quiet) quiet_q <= quiet_q + 1'b1;
    if (!open_q[lane_q] || burst_word_i[lane_q]) quiet_q <= '0;
    if (change) lane_q <= other;

    chosen_q <= |asking && !open_q[lane_q];
    choice_q <= next;
    needs_q  <= least;
    if (take_i) begin
      chosen_q <= 1'b0;
      open_q[lane_q] <= 1'b1;
      open_peer_q[lane_q] <= choice_q;
      open_tag_q[lane_q] <= tag_q[index_t'(choice_q)];
      age_q[lane_q] <= '0;
      pointer_q <= choice_q;
      asks_q[index_t'(choice_q)] <= 1'b0;
    end
    // The newest REQ of an input is the one that counts; a null one ends the exchange.
    if (req_i) begin
      asks_q[index_t'(req_peer_i)] <= sum_req != '0;
      tag_q[index_t'(req_peer_i)]  <= req_message_i.tag;
      for (int c = 0; c < Classes; c++) asked_q[index_t'(req_peer_i)][c] <= req_message_i.count[c];
      // What was chosen may just have changed.
      if (req_peer_i == next) chosen_q <= 1'b0;
    end
    if (rst_i) begin
      asks_q <= '0;
      chosen_q <= 1'b0;
      open_q <= '0;
      lane_q <= 1'b0;
      pointer_q <= '0;
    end
  end

  `ASSERT(OneGrant, !want_o || !open_q[lane_q])
  `ASSERT(OneGrantAnInput, Lanes == 1 || !(&open_q) || open_peer_q[0] != open_peer_q[Lanes-1])
  `ASSERT(ChosenAsks, !want_o || asks_q[index_t'(choice_q)])
  `ASSERT(TakesWhatIsThere, !take_i || want_o)
endmodule

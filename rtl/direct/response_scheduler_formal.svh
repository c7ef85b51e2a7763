// SPDX-License-Identifier: Apache-2.0
// What the proofs of response_scheduler share: the scheduler with three inputs, whatever these do.
`ifndef EMERY_RESPONSE_SCHEDULER_FORMAL_SVH
`define EMERY_RESPONSE_SCHEDULER_FORMAL_SVH
`include "formal.svh"

package response_scheduler_formal_pkg;
  localparam int ProofPeers = 3;
  localparam int ProofWords = 7;  // of an output FIFO, and of a class that is asked for

  /// What happens to the scheduler in a clock, but for bursts.
  typedef struct packed {
    logic            req;
    logic            req_own;
    logic [1:0]      req_peer;
    logic [3:0]      req_tag;
    logic [1:0][2:0] count;      // of the classes
    logic            take;
    logic            sent;
    logic            aborted;
    logic [1:0]      sent_peer;
    logic [3:0]      sent_tag;
  } happens_t;
endpackage

/// response_scheduler, its ports by their names, with `take` where there is a RES. Words of a granted burst come while its grant is open
/// only, of one burst in a clock; with the last one its trailing REQ, and no other.
module response_scheduler_rig
  import direct_pkg::*, route_pkg::*, response_scheduler_formal_pkg::*;
#(
    parameter int Classes  = 1,
    parameter int Lanes    = 1,
    parameter int Patience = 4
) (
    input logic                      clk_i,
    input logic                      rst_i,
    input logic     [      2:0]      min_i,
    input logic     [     31:0]      timeout_i,
    input logic     [Lanes-1:0][2:0] room_i,
    input happens_t                  now_i,
    input logic     [Lanes-1:0]      word_i,
    input logic     [Lanes-1:0]      done_i,
    input logic     [Lanes-1:0]      broken_i
);
  `FORMAL_BEGIN
  message_t req, message;
  words_t [Lanes-1:0] room;
  logic lane, want, timeout;
  logic [Lanes-1:0] empty, open, cancel;
  peer_t peer;
  peer_t [Lanes-1:0] open_peer;
  logic [Lanes-1:0][3:0] open_tag;
  wire take = now_i.take && want;
  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      room[l]  = words_t'(room_i[l]);
      empty[l] = room_i[l] == 3'(ProofWords);
    end
    req = '0;
    req.kind = Request;
    req.tag = now_i.req_tag;
    for (int c = 0; c < Classes; c++) req.count[c] = words_t'(now_i.count[c]);
  end
  response_scheduler #(
      .Peers(ProofPeers),
      .Classes(Classes),
      .FifoBytes(8 * ProofWords),
      .Lanes(Lanes),
      .Patience(Patience)
  ) dut (
      .clk_i,
      .rst_i,
      .min_words_i(words_t'(min_i)),
      .timeout_i,
      .room_i(room),
      .empty_i(empty),
      .lane_o(lane),
      .req_i(now_i.req),
      .req_own_i(now_i.req_own),
      .req_peer_i(4'(now_i.req_peer)),
      .req_message_i(req),
      .want_o(want),
      .peer_o(peer),
      .message_o(message),
      .take_i(take),
      .sent_i(now_i.sent),
      .sent_aborted_i(now_i.aborted && now_i.sent),
      .sent_peer_i(4'(now_i.sent_peer)),
      .sent_tag_i(now_i.sent_tag),
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
    assume (now_i.req_peer < 2'(ProofPeers) && now_i.sent_peer < 2'(ProofPeers));
    assume ((word_i & ~open) == '0 && ((done_i | broken_i) & ~word_i) == '0);
    assume ((word_i & (word_i - 1'b1)) == '0);
    assume (!(word_i != '0 && now_i.req && now_i.req_own));
  end
endmodule

`endif

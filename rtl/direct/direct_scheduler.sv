// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The distributed scheduler of a card (direct-router paper, section III-B): REQ, RES and bursts between this card and its
/// peers over any bus that writes words into windows.
///
/// Messages and bursts leave as commands on two DMA channels; what peers write into this card's windows comes in by `recv`
/// (always ready), window w from peer w. Received packets go to the output FIFO of `direct_output`, whose room bounds every
/// RES. An aborted message or burst means a dead peer: it is left alone for `retry_i` clocks; so is one that leaves a REQ
/// unanswered for 4 * `timeout_i` clocks; one that sends nothing of its burst for `timeout_i` clocks loses the grant. (Both up
/// to a quarter later.) Nothing is dropped on the way out;
/// packets of bursts that were not granted (any more) are discarded and counted. While `enable_i` is low, a driver is setting the card
/// up: what peers ask is noted, and answered when their windows are known. Reset forgets all exchanges.
module direct_scheduler
  import direct_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int FifoBytes = 15360,  // of the output FIFO, of each lane
    parameter int MessageWords = 1,  // of REQ, RES, burst header and packet header on the bus
    parameter int Lanes = 1  // 1: one REQ and one RES at a time (paper); 2: one REQ an output and two RESs (response_scheduler)
) (
    input logic clk_i,
    input logic rst_i,
    // Settings
    input logic enable_i,
    input logic [Peers-1:0][63:0] peer_base_i,  // this card's window at each peer
    input words_t res_min_words_i,  // grant at least this much, 0: any (paper)
    input logic [31:0] timeout_i,  // clocks, 0: wait for ever (paper)
    input logic [31:0] retry_i,  // clocks until a silent peer gets another REQ
    // Input FIFOs
    frame_read_if.reader fast,  // Queues = Peers * Classes
    // DMA channels: channel_cmd_t, logic [63:0], channel_result_e
    stream_if.src msg_cmd,
    stream_if.src msg_data,
    stream_if.snk msg_done,
    stream_if.src burst_cmd,
    stream_if.src burst_data,
    stream_if.snk burst_done,
    // Words from the windows: window_word_t, always ready
    stream_if.snk recv,
    // Fast output FIFOs, and the one that grants go into now
    output frame_write_t [Lanes-1:0] out_o,
    input words_t [Lanes-1:0] out_room_i,
    input logic [Lanes-1:0] out_empty_i,
    output logic out_lane_o,
    // Events; peers that are being left alone
    output scheduler_events_t events_o,
    output logic [Peers-1:0] silent_o
);
  if (Peers < 1 || Peers > MaxPeers || Classes < 1 || Classes > MaxClasses) begin : g_bad_peers
    $fatal(1, "direct_scheduler: Peers %0d or Classes %0d is out of range", Peers, Classes);
  end
  if (MessageWords < 1 || MessageWords > 4) begin : g_bad_message
    $fatal(1, "direct_scheduler: MessageWords %0d is not within 1 and 4", MessageWords);
  end

  // What came in.
  logic req, req_own, res, res_awaited;
  peer_t from;
  message_t got;
  // The grant given to a peer, by lane.
  logic [Lanes-1:0] open, cancel, burst_word, burst_done_in, burst_broken;
  peer_t [Lanes-1:0] open_peer;
  logic [Lanes-1:0][3:0] open_tag;
  // Messages going out.
  logic req_want, req_take, res_want, res_take, sent, aborted;
  peer_t req_peer, res_peer, sent_peer;
  logic [3:0] req_tag;
  message_t req_message, res_message;
  message_kind_e sent_kind;
  logic [3:0] sent_tag;
  // The burst going out.
  logic trailing, trailing_null, burst_aborted;
  logic [3:0] trailing_tag;
  peer_t burst_peer;
  logic [Peers-1:0] waiting, granted, bursting;

  scheduler_events_t events;

  burst_receiver #(
      .Peers(Peers),
      .Classes(Classes),
      .MessageWords(MessageWords),
      .Lanes(Lanes)
  ) i_receiver (
      .clk_i,
      .rst_i,
      .recv,
      .open_i(open),
      .open_peer_i(open_peer),
      .open_tag_i(open_tag),
      .cancel_i(cancel),
      .req_o(req),
      .req_own_o(req_own),
      .res_o(res),
      .peer_o(from),
      .message_o(got),
      .burst_word_o(burst_word),
      .burst_done_o(burst_done_in),
      .burst_broken_o(burst_broken),
      .out_o,
      .received_o(events.packet_received),
      .discarded_o(events.packet_discarded),
      .stale_burst_o(events.stale_burst),
      .malformed_o(events.malformed)
  );

  response_scheduler #(
      .Peers(Peers),
      .Classes(Classes),
      .FifoBytes(FifoBytes),
      .Lanes(Lanes)
  ) i_response (
      .clk_i,
      .rst_i,
      .min_words_i(res_min_words_i),
      .timeout_i,
      .room_i(out_room_i),
      .empty_i(out_empty_i),
      .lane_o(out_lane_o),
      .req_i(req),
      .req_own_i(req_own),
      .req_peer_i(from),
      .req_message_i(got),
      .want_o(res_want),
      .peer_o(res_peer),
      .message_o(res_message),
      .take_i(res_take),
      .sent_i(sent && sent_kind == Respond),
      .sent_aborted_i(aborted && sent_kind == Respond),
      .sent_peer_i(sent_peer),
      .sent_tag_i(sent_tag),
      .open_o(open),
      .open_peer_o(open_peer),
      .open_tag_o(open_tag),
      .burst_word_i(burst_word),
      .burst_done_i(burst_done_in),
      .burst_broken_i(burst_broken),
      .cancel_o(cancel),
      .timeout_o(events.burst_timeout)
  );

  // A REQ says what its output's FIFOs hold.
  always_comb begin
    waiting = '0;
    req_message = '0;
    req_message.kind = Request;
    req_message.tag = req_tag;
    for (int p = 0; p < Peers; p++) begin
      for (int c = 0; c < Classes; c++) begin
        if (fast.used[p*Classes+c] != '0) waiting[p] = 1'b1;
        if (req_peer == peer_t'(p)) req_message.count[c] = fast.used[p*Classes+c];
      end
    end
  end

  request_scheduler #(
      .Peers(Peers),
      .OneAtATime(Lanes == 1)
  ) i_request (
      .clk_i,
      .rst_i,
      .timeout_i,
      .retry_i,
      .waiting_i(waiting),
      .granted_i(granted),
      .bursting_i(bursting),
      .want_o(req_want),
      .peer_o(req_peer),
      .tag_o(req_tag),
      .take_i(req_take),
      .trailing_i(trailing),
      .trailing_null_i(trailing_null),
      .burst_peer_i(burst_peer),
      .trailing_tag_o(trailing_tag),
      .res_i(res),
      .res_peer_i(from),
      .res_tag_i(got.tag),
      .res_awaited_o(res_awaited),
      .req_aborted_i(aborted && sent_kind == Request),
      .req_aborted_peer_i(sent_peer),
      .req_aborted_tag_i(sent_tag),
      .burst_aborted_i(burst_aborted),
      .silent_o,
      .timeout_o(events.request_timeout)
  );

  burst_scheduler #(
      .Peers(Peers),
      .Classes(Classes),
      .MessageWords(MessageWords)
  ) i_burst (
      .clk_i,
      .rst_i,
      .peer_base_i,
      .fast,
      .res_i(res_awaited),
      .res_peer_i(from),
      .res_message_i(got),
      .granted_o(granted),
      .bursting_o(bursting),
      .trailing_o(trailing),
      .trailing_null_o(trailing_null),
      .trailing_tag_i(trailing_tag),
      .peer_o(burst_peer),
      .aborted_o(burst_aborted),
      .cmd(burst_cmd),
      .data(burst_data),
      .done(burst_done),
      .sent_o(events.burst_sent),
      .empty_o(events.empty_burst),
      .packet_o(events.packet_sent)
  );

  message_port #(
      .Peers(Peers),
      .MessageWords(MessageWords)
  ) i_messages (
      .clk_i,
      .rst_i,
      .peer_base_i,
      .req_want_i(req_want),
      .req_peer_i(req_peer),
      .req_message_i(req_message),
      .take_req_o(req_take),
      .res_want_i(res_want && enable_i),
      .res_peer_i(res_peer),
      .res_message_i(res_message),
      .take_res_o(res_take),
      .cmd(msg_cmd),
      .data(msg_data),
      .done(msg_done),
      .sent_o(sent),
      .aborted_o(aborted),
      .kind_o(sent_kind),
      .tag_o(sent_tag),
      .peer_o(sent_peer)
  );

  assign events.req_sent = sent && !aborted && sent_kind == Request;
  assign events.res_sent = sent && !aborted && sent_kind == Respond;
  assign events.null_req = trailing && trailing_null;
  assign events.burst_received = |burst_done_in;
  assign events.aborted = aborted || burst_aborted;
  assign events.stale_res = res && !res_awaited;
  always_ff @(posedge clk_i) events_o <= rst_i ? '0 : events;

  // What no longer fits was never granted.
  for (genvar l = 0; l < Lanes; l++) begin : g_room
    `ASSERT(RoomIsThere, !out_o[l].valid || out_room_i[l] != '0)
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Round-robin transmit scheduler (host-nic paper, section II-E).
///
/// Queues with work wait in a FIFO; the one at its head gets a grant of up to `max_burst_i` packets, and goes to the tail
/// again once `granted` has told that there is more. So a queue with work is granted once in each round of the others.
/// A queue with `max_inflight_i` packets granted and not yet `sent` keeps its turn but gets no grant. A doorbell (queue_t)
/// while a queue is active or disabled is remembered. One grant, one `granted` and one `sent` a clock, so a packet a clock
/// even at bursts of one; a doorbell or a register access takes a clock from `granted` (and an access one from `sent`).
/// Doorbells and `granted` take turns where both come every clock.
/// `regs`: one word a queue, bit 0 enable, bit 1 active (RO), 31:16 packets in flight (RO). A queue disabled while it waits
/// gets its grant but no other. At most one grant of a queue is on its way. Queues that do not exist are ignored.
/// After reset all queues are disabled and idle; this takes `Queues` clocks, in which nothing is accepted.
module sched_rr
  import queue_pkg::*;
#(
    parameter int Queues = 256
) (
    input logic                clk_i,
    input logic                rst_i,
    input logic         [ 3:0] max_burst_i,     // 1 ... 8
    input logic         [15:0] max_inflight_i,  // 1 or more
          reg_if.slave         regs,
    // Queues with new work: queue_t.
          stream_if.snk        doorbell,
    // grant_t out; granted_t back for each, in any order; sent_t for each packet, after that.
          stream_if.src        grant,
          stream_if.snk        granted,
          stream_if.snk        sent
);
  if (Queues < 2 || Queues > 65536) begin : g_bad_parameter
    $fatal(1, "sched_rr: Queues %0d is not 2 ... 65536", Queues);
  end

  localparam int IndexW = $clog2(Queues);
  typedef logic [IndexW-1:0] index_t;
  typedef logic [15:0] packets_t;

  logic sent_ready, ready, access, access_known, take_turn, counted;
  index_t access_queue, queue;
  packets_t granted_now, granted_next, sent_now, sent_next;
  logic unused_share;
  sched_queues #(
      .Queues(Queues)
  ) i_queues (
      .clk_i,
      .rst_i,
      .regs,
      .doorbell,
      .granted,
      .ready_i(sent_ready),
      .ready_o(ready),
      .access_o(access),
      .access_known_o(access_known),
      .access_queue_o(access_queue),
      .in_flight_i(granted_now - sent_now),
      .turn_o(take_turn),
      .counted_o(counted),
      .queue_o(queue),
      .granted_o(granted_next),
      .before_o(granted_now),
      .share_o(unused_share)
  );
  assign sent.ready = ready && !access;

  // Packets ever sent, in a RAM of its own so that it can count beside the grants.
  logic sent_read_q, sent_update_q;
  index_t sent_read_index_q, sent_index_q;
  wire sending = sent.valid && sent.ready && 32'(sent.data.queue) < Queues;
  rmw_ram #(
      .T(packets_t),
      .Depth(Queues)
  ) i_sent (
      .clk_i,
      .rst_i,
      .ready_o(sent_ready),
      .start_i(access ? access_known : sending),
      .index_i(access ? access_queue : index_t'(sent.data.queue)),
      .now_o  (sent_now),
      .next_i (sent_next)
  );
  assign sent_next = sent_update_q ? sent_now + 1'b1 : sent_now;

  // Copies of both counts for the head of the FIFO. They may be a few clocks old: `granted` of a queue with a turn does not
  // change, and an old `sent` only makes it wait a little longer.
  index_t head_q;
  packets_t head_granted, head_sent;
  logic head_free, load, pass_by;
  index_t loaded;
  `STREAM(index_t, turn_in)
  `STREAM(index_t, turn)
  logic sweep_q;
  index_t sweep_index_q;
  logic [$clog2(Queues+1)-1:0] turns;

  ram_sdp #(
      .Width(16),
      .Depth(Queues)
  ) i_granted_copy (
      .clk_i,
      .we_i   (sweep_q || counted),
      .waddr_i(sweep_q ? sweep_index_q : queue),
      .wdata_i(sweep_q ? '0 : granted_next),
      .re_i   (head_free),
      .raddr_i(loaded),
      .rdata_o(head_granted)
  );
  ram_sdp #(
      .Width(16),
      .Depth(Queues)
  ) i_sent_copy (
      .clk_i,
      .we_i   (sweep_q || sent_update_q),
      .waddr_i(sweep_q ? sweep_index_q : sent_index_q),
      .wdata_i(sweep_q ? '0 : sent_next),
      .re_i   (head_free),
      .raddr_i(loaded),
      .rdata_o(head_sent)
  );

  // The FIFO of turns has room for every queue, and each is there at most once.
  fifo #(
      .T(index_t),
      .Depth(Queues)
  ) i_turns (
      .clk_i,
      .rst_i,
      .in(turn_in),
      .out(turn),
      .count_o(turns)
  );

  // Head: counts being looked at. Then the offer of a grant. A turn does not go through the FIFO when that is empty; its
  // `granted` is then only being written and comes along.
  logic head_valid_q, grant_valid_q, head_new_q;
  packets_t head_new_granted_q, head_count;
  grant_t grant_q;
  assign head_count = head_new_q ? head_new_granted_q : head_granted;
  // How many more than one there is room for, as one sum: negative without room. The counts may have gone around apart.
  wire [17:0] further = {2'b00, max_inflight_i} + {2'b00, head_sent} + {2'b11, ~head_count};
  wire around = head_count < head_sent;
  wire may_send = !further[17] && (further[16] || !around);
  wire [2:0] most_further = max_burst_i[2:0] - 3'd1;
  wire few = further[15:3] == '0 && further[2:0] < most_further;  // for a whole burst
  wire grant_free = !grant_valid_q || grant.ready;
  // A queue at its limit goes to the tail, when no other needs the way there.
  wire goes_back = head_valid_q && !may_send && !take_turn;
  wire leaves = head_valid_q && (may_send ? grant_free : goes_back);
  assign head_free = !head_valid_q || leaves;
  wire turn_passes = take_turn && turns == '0;
  assign pass_by = turn_passes && head_free;
  assign load = head_free && (turn.valid || turn_passes);
  assign loaded = turn_passes ? queue : turn.data;
  assign turn.ready = head_free;
  assign turn_in.valid = (take_turn && !pass_by) || goes_back;
  assign turn_in.data = take_turn ? queue : head_q;

  assign grant.valid = grant_valid_q;
  assign grant.data = grant_q;

  always_ff @(posedge clk_i) begin
    sent_read_q <= sending;
    sent_update_q <= sent_read_q;
    sent_read_index_q <= index_t'(sent.data.queue);
    sent_index_q <= sent_read_index_q;

    if (load) begin
      head_q <= loaded;
      head_new_q <= pass_by;
      head_new_granted_q <= granted_next;
    end
    head_valid_q <= load || (head_valid_q && !leaves);
    if (leaves && may_send) begin
      grant_valid_q <= 1'b1;
      grant_q <= '{
          queue: 16'(head_q),
          max: few ? {1'b0, further[2:0]} + 4'd1 : max_burst_i,
          granules: '0
      };
    end else if (grant.ready) grant_valid_q <= 1'b0;

    sweep_index_q <= sweep_q ? sweep_index_q + 1'b1 : '0;
    if (sweep_index_q == index_t'(Queues - 1)) sweep_q <= 1'b0;

    if (rst_i) begin
      sent_read_q <= 1'b0;
      sent_update_q <= 1'b0;
      head_valid_q <= 1'b0;
      grant_valid_q <= 1'b0;
      sweep_q <= 1'b1;
      sweep_index_q <= '0;
    end
  end

  `ASSERT(TurnHasRoom, turn_in.valid |-> turn_in.ready)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit scheduler of one ordered list: of the queues whose time has come, the one of the smallest rank (PIEO, "push in, extract out",
/// SIGCOMM 2019). A queue's time comes as its rate limit allows; its rank is its priority, then its place in virtual time. So priorities, weights
/// and limits hold at once: a limited queue has at most its limit; what is left goes by weights; a lower priority has what a higher one leaves.
///
/// A queue with work is looked at by turns with the others. Where its token bucket (rate_buckets) does not hold what it may be granted, it waits in a timing wheel
/// (queue_wheel) until that does, and is looked at again. Otherwise it gets its rank (fair_tags: bytes over weight, lengths to the byte) and goes into the list
/// (rank_ring) of `Classes` priorities and, in each, places of 256 bytes of weight 1: order within a place is first in first out. The first of the list is granted
/// up to `max_burst_i`, `room_i` and its tokens' packets. A queue that comes back from a grant may be before the first one: so one that is more than
/// 2 kB of weight 1 ahead of those of its priority waits until none of these is on its way; then no weight is lost to the time a grant takes.
/// Over any time queues of a priority that always have work and no limit send bytes as their weights are, give or take 2 kB of weight 1, a grant, and what is not known of packets
/// under way; none starves. One that had none keeps at most 8 kB of weight 1 of credit. A queue is at the most 112 kB of weight 1 ahead: more than that, as after a change
/// of priority, is forgotten. While the window is full a grant is of one packet: a queue then has a packet in those 34 clocks and the fetch's answer at the most, whatever its priority.
/// A queue looked at, or granted, every second clock at the most; a new place of the list takes 14 clocks; 34 clocks from a doorbell, or from `granted`, to a
/// grant. A grant on offer is not taken back. Ports and registers otherwise as sched_queues (a share is a weight, bits 7:0, and a priority, 10:8; packets in flight
/// read as 0) and rate_buckets (`limits`, `refused_o`) have them. `begun`: packets whose length is known (sched_window).
/// Reset as sched_queues, but it takes 8192 clocks or `Queues`, whichever is more.
module sched_pieo
  import queue_pkg::*;
#(
    parameter int Queues  = 256,
    parameter int Slots   = 2048,
    parameter int LogSlot = 7
) (
    input  logic                clk_i,
    input  logic                rst_i,
           reg_if.slave         regs,
           stream_if.snk        doorbell,        // queue_t
           stream_if.src        grant,           // grant_t
           stream_if.snk        granted,         // granted_t
    input  logic         [ 3:0] max_burst_i,     // 1 ... 8
    input  logic         [ 3:0] room_i,          // packets that may be granted: 0 ... 8
    input  logic                begun_i,
    input  sent_t               begun_packet_i,
           reg_if.slave         limits,
    input  logic         [13:0] longest_i,       // bytes of a packet that is not begun
    output logic                refused_o
);
  localparam int IndexW = $clog2(Queues);
  localparam int Classes = 8, ClassW = 3;
  localparam int LogPlace = 8, LogWords = 5, LogBits = 5, RingW = LogWords + LogBits, PlaceW = 32 - LogPlace;
  localparam int Lag = 32, Far = 448;  // Lag + 2 Far + a word: within the ring
  localparam int Ahead = 8;  // places
  localparam int Asking = 8, Ranking = 9, Seen = 10;  // clocks: rate_buckets, fair_tags, rank_ring
  localparam int ClockW = 36;
  typedef logic [IndexW-1:0] index_t;
  typedef logic [ClassW-1:0] class_t;
  typedef logic [RingW-1:0] ring_t;
  typedef logic [PlaceW-1:0] place_t;
  typedef struct packed {
    index_t queue;
    logic   back;   // from a grant
    class_t cls;    // that was of
  } turn_t;

  // ---- Queues; their turns as they come, a clock later with what they come from.
  logic
      buckets_ready,
      wheel_ready,
      ring_ready,
      tags_ready,
      turn,
      counted,
      unused_ready,
      unused_access,
      unused_known;
  index_t queue, unused_queue;
  logic [15:0] granted_next, unused_before, granted_ever;
  logic [10:0] share;
  sched_queues #(
      .Queues(Queues),
      .ShareW($bits(share))
  ) i_queues (
      .clk_i,
      .rst_i,
      .regs,
      .doorbell,
      .granted,
      .ready_i(buckets_ready && wheel_ready && ring_ready && tags_ready),
      .ready_o(unused_ready),
      .access_o(unused_access),
      .access_known_o(unused_known),
      .access_queue_o(unused_queue),
      .in_flight_i('0),
      .turn_o(turn),
      .counted_o(counted),
      .queue_o(queue),
      .granted_o(granted_next),
      .before_o(unused_before),
      .share_o(share)
  );
  class_t grant_class, popped_class_q, back_class;
  index_t head, popped_queue_q, queue_q;
  logic pop, pop_q, turn_q, counted_q;
  ram_sdp #(
      .Width(ClassW),
      .Depth(Queues)
  ) i_granted_class (
      .clk_i,
      .we_i   (pop_q),
      .waddr_i(popped_queue_q),
      .wdata_i(popped_class_q),
      .re_i   (counted),
      .raddr_i(queue),
      .rdata_o(back_class)
  );
  `STREAM(turn_t, turn_in)
  `STREAM(turn_t, turn_out)
  assign turn_in.valid = turn_q;
  assign turn_in.data  = '{queue: queue_q, back: counted_q, cls: back_class};
  `FIFO(turn_t, Queues, i_turns, turn_in, turn_out)

  // ---- A queue is looked at: from the turns and from the wheel by turns, where both have one.
  logic due, due_q, again, wheel_next_q, looked_q;
  index_t again_queue;
  // A slot that is due needs a clock in which none is parked; so does rank_ring, every second one.
  wire may_look = !due_q && !begun_i && !looked_q;
  wire from_wheel = again && (wheel_next_q || !turn_out.valid);
  wire look = may_look && (again || turn_out.valid);
  assign turn_out.ready = may_look && !from_wheel;
  turn_t look_turn, look_q[1:Ranking];
  logic [Ranking:1] looking_q;
  assign look_turn = from_wheel ? '{queue: again_queue, back: 1'b0, cls: '0} : turn_out.data;

  logic [3:0] packets, packets_q;
  logic [ClockW-1:0] wake, now;
  rate_buckets #(
      .Queues(Queues),
      .ClockW(ClockW)
  ) i_buckets (
      .clk_i,
      .rst_i,
      .regs(limits),
      .ready_o(buckets_ready),
      .refused_o,
      .charge_i(begun_i),
      .charged_i(begun_packet_i),
      .longest_i,
      .ask_i(look),
      .ask_queue_i(look_turn.queue),
      .ask_granted_i(granted_ever),
      .packets_o(packets),
      .wake_o(wake),
      .now_o(now)
  );
  logic ranked;
  class_t rank_class;
  place_t rank_place;
  place_t [Classes-1:0] virtual_q;  // the largest place of which one was granted
  fair_tags #(
      .Queues  (Queues),
      .Classes (Classes),
      .LogPlace(LogPlace),
      .Lag     (Lag),
      .Far     (Far)
  ) i_tags (
      .clk_i,
      .rst_i,
      .ready_o(tags_ready),
      .virtual_i(virtual_q),
      .turn_i(turn),
      .turn_queue_i(queue),
      .turn_granted_i(granted_next),
      .turn_weight_i(share[7:0]),
      .turn_class_i(share[10:8]),
      .charge_i(begun_i),
      .charged_i(begun_packet_i),
      .ask_i(look),
      .ask_queue_i(look_turn.queue),
      .granted_o(granted_ever),
      .answer_o(ranked),
      .class_o(rank_class),
      .place_o(rank_place)
  );

  // ---- And is parked or put into the list.
  wire park = looking_q[Asking] && packets == '0;
  queue_wheel #(
      .Queues(Queues),
      .Slots (Slots),
      .TimeW (ClockW - LogSlot)
  ) i_wheel (
      .clk_i,
      .rst_i,
      .ready_o(wheel_ready),
      .slot_i(now[ClockW-1:LogSlot]),
      .push_i(park),
      .push_slot_i((ClockW - LogSlot)'((wake + ClockW'(2 ** LogSlot - 1)) >> LogSlot)),
      .push_queue_i(look_q[Asking].queue),
      .due_o(due),
      .some_o(again),
      .head_o(again_queue),
      .pop_i(look && from_wheel)
  );
  wire push = ranked && packets_q != '0;
  logic some;
  ring_t first_place;
  logic [Classes-1:0][LogWords-1:0] first_q;
  rank_ring #(
      .Queues  (Queues),
      .Classes (Classes),
      .LogWords(LogWords),
      .LogBits (LogBits)
  ) i_list (
      .clk_i,
      .rst_i,
      .ready_o(ring_ready),
      .first_i(first_q),
      .push_i(push),
      .push_class_i(rank_class),
      .push_place_i(rank_place[RingW-1:0]),
      .push_queue_i(look_q[Ranking].queue),
      .some_o(some),
      .class_o(grant_class),
      .place_o(first_place),
      .head_o(head),
      .pop_i(pop)
  );
  logic [3:0] head_packets;
  ram_sdp #(
      .Width(4),
      .Depth(Queues)
  ) i_packets (
      .clk_i,
      .we_i   (push),
      .waddr_i(look_q[Ranking].queue),
      .wdata_i(packets_q),
      .re_i   (pop),
      .raddr_i(head),
      .rdata_o(head_packets)
  );

  // ---- The first of the list is granted, if it is not too far ahead of what may come back.
  ring_t [Classes-1:0] last_q;  // place up to which nothing is waited for
  logic [Classes-1:0][IndexW:0] out_q;  // queues granted that are not back
  place_t class_virtual_q, raised_q, popped_raised_q;
  ring_t class_last_q, popped_last_q;
  logic class_out_q, waits_q, over_q, raises_q, popped_raises_q, popped_over_q;
  logic popped_q, offer_q;
  wire ring_t virtual_ahead = first_place - class_virtual_q[RingW-1:0];
  wire ring_t last_ahead = first_place - class_last_q;
  grant_t grant_q;
  logic [Seen:1] seen_q;
  class_t [Seen:1] seen_class_q;
  wire [3:0] room = room_i < max_burst_i ? room_i : max_burst_i;
  wire offer = popped_q && room_i != '0 && (!offer_q || grant.ready);
  assign pop = some && !waits_q && room_i != '0 && !popped_q;
  assign grant.valid = offer_q;
  assign grant.data = grant_q;
  wire gone = counted_q && !turn_q;  // no more work
  wire parked = park && look_q[Asking].back;

  always_ff @(posedge clk_i) begin
    turn_q <= turn;
    counted_q <= counted;
    queue_q <= queue;
    looked_q <= look;
    due_q <= due;
    if (look) wheel_next_q <= !from_wheel;
    looking_q <= {looking_q[Ranking-1:1], look};
    look_q[1] <= look_turn;
    for (int i = 2; i <= Ranking; i++) look_q[i] <= look_q[i-1];
    packets_q <= packets;
    seen_q <= {seen_q[Seen-1:1], push && look_q[Ranking].back};
    seen_class_q <= {seen_class_q[Seen-1:1], look_q[Ranking].cls};

    // What decides about the first one of the list, in two clocks.
    class_virtual_q <= virtual_q[grant_class];
    class_last_q <= last_q[grant_class];
    class_out_q <= out_q[grant_class] != '0;
    over_q <= !last_ahead[RingW-1] && last_ahead != '0;
    waits_q <= !last_ahead[RingW-1] && last_ahead != '0 && class_out_q;
    raises_q <= !virtual_ahead[RingW-1] && virtual_ahead != '0;
    raised_q <= class_virtual_q + place_t'(virtual_ahead);
    pop_q <= pop;
    popped_class_q <= grant_class;
    popped_raises_q <= pop && raises_q;
    popped_raised_q <= raised_q;
    popped_over_q <= pop && over_q;
    popped_last_q <= first_place + RingW'(Ahead);
    if (popped_raises_q) virtual_q[popped_class_q] <= popped_raised_q;
    if (popped_over_q) last_q[popped_class_q] <= popped_last_q;
    for (int i = 0; i < Classes; i++) begin
      first_q[i] <= LogWords'((virtual_q[i][RingW-1:0] - RingW'(Lag + Far)) >> LogBits);
      out_q[i] <= out_q[i] + (IndexW + 1)'(pop_q && popped_class_q == class_t'(i))
          - (IndexW + 1)'(gone && back_class == class_t'(i))
          - (IndexW + 1)'(parked && look_q[Asking].cls == class_t'(i))
          - (IndexW + 1)'(seen_q[Seen] && seen_class_q[Seen] == class_t'(i));
    end

    popped_q <= pop || (popped_q && !offer);
    if (pop) popped_queue_q <= head;
    if (offer) begin
      offer_q <= 1'b1;
      grant_q <= '{
          queue: 16'(popped_queue_q),
          max: head_packets < room ? head_packets : room,
          granules: '0
      };
    end else if (grant.ready) offer_q <= 1'b0;
    if (rst_i) begin
      turn_q <= 1'b0;
      counted_q <= 1'b0;
      looked_q <= 1'b0;
      wheel_next_q <= 1'b0;
      looking_q <= '0;
      seen_q <= '0;
      virtual_q <= '0;
      last_q <= '0;
      out_q <= '0;
      pop_q <= 1'b0;
      popped_raises_q <= 1'b0;
      popped_over_q <= 1'b0;
      popped_q <= 1'b0;
      offer_q <= 1'b0;
    end
  end

  `ASSERT(TurnHasRoom, turn_in.valid |-> turn_in.ready)
  `ASSERT(RankedInTime, ranked == looking_q[Ranking])
endmodule

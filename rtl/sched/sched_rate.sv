// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit scheduler with a rate limit for each queue: token buckets and a timing wheel (SENIC, NSDI 2014; Carousel, SIGCOMM 2017).
///
/// Queues with work are looked at by turns. One that has no limit, or tokens for what it may be granted (rate_buckets), gets its
/// grant; another is parked in the slot of the wheel (queue_wheel) in which it can have them, and then has its turn again. So queues without a limit are served
/// round robin and none waits for one that is parked; in the long run a limited queue that always has work sends at its rate, to what that is rounded to, if
/// its burst holds what comes in while it waits for a slot, for its turn and for its packets' descriptors; at any time it has been granted no more
/// than its burst, what its rate gives since, and a packet.
/// The wheel has `Slots` slots of 2^`LogSlot` clocks; a queue that has to wait longer is looked at once each time around, so a
/// new limit holds after so long at the latest. A grant is of up to `max_burst_i` and `room_i` packets; with `room_i` 0 there are none.
/// A queue looked at each clock; a grant every second; 16 clocks from a doorbell, or from `granted`, to a grant. A grant on offer is not taken
/// back. Ports and registers otherwise as sched_queues (packets in flight are not counted and read as 0) and rate_buckets (`limits`,
/// `refused_o`) have them. `begun`: packets whose length is known (sched_window). Reset as sched_queues.
module sched_rate
  import queue_pkg::*;
#(
    parameter int Queues  = 256,
    parameter int Slots   = 2048,
    parameter int LogSlot = 7
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic         [ 3:0] max_burst_i,    // 1 ... 8
    input  logic         [ 3:0] room_i,         // packets that may be granted: 0 ... 8
    input  logic         [13:0] longest_i,      // bytes of a packet that is not begun
           reg_if.slave         regs,
           reg_if.slave         limits,
    output logic                refused_o,
           stream_if.snk        doorbell,       // queue_t
           stream_if.src        grant,          // grant_t
           stream_if.snk        granted,        // granted_t
    input  logic                begun_i,
    input  sent_t               begun_packet_i
);
  localparam int IndexW = $clog2(Queues);
  localparam int Looks = 16;  // questions and grants under way
  localparam int Asking = 8;  // clocks
  localparam int ClockW = 36;
  typedef logic [IndexW-1:0] index_t;
  typedef struct packed {
    index_t     queue;
    logic [3:0] packets;
  } fit_t;

  // ---- Queues; their turns as they come.
  logic
      buckets_ready,
      wheel_ready,
      turn,
      unused_ready,
      unused_access,
      unused_known,
      unused_counted,
      unused_share;
  index_t queue, unused_queue;
  logic [15:0] granted_next, unused_before, granted_ever;
  sched_queues #(
      .Queues(Queues)
  ) i_queues (
      .clk_i,
      .rst_i,
      .regs,
      .doorbell,
      .granted,
      .ready_i(buckets_ready && wheel_ready),
      .ready_o(unused_ready),
      .access_o(unused_access),
      .access_known_o(unused_known),
      .access_queue_o(unused_queue),
      .in_flight_i('0),
      .turn_o(turn),
      .counted_o(unused_counted),
      .queue_o(queue),
      .granted_o(granted_next),
      .before_o(unused_before),
      .share_o(unused_share)
  );
  `STREAM(index_t, turn_in)
  `STREAM(index_t, turn_out)
  assign turn_in.valid = turn;
  assign turn_in.data  = queue;
  `FIFO(index_t, Queues, i_turns, turn_in, turn_out)

  // ---- A queue is looked at: from the turns and from the wheel by turns, where both have one.
  logic due, again, wheel_next_q;
  index_t again_queue;
  logic [$clog2(Looks+1)-1:0] looks_q;
  // A slot that is due needs a clock in which none is parked.
  wire may_look = 32'(looks_q) < Looks && !due;
  wire from_wheel = again && (wheel_next_q || !turn_out.valid);
  wire look = may_look && (again || turn_out.valid);
  wire index_t look_queue = from_wheel ? again_queue : turn_out.data;
  assign turn_out.ready = may_look && !from_wheel;

  ram_sdp #(
      .Width(16),
      .Depth(Queues)
  ) i_granted (
      .clk_i,
      .we_i   (turn),
      .waddr_i(queue),
      .wdata_i(granted_next),
      .re_i   (look),
      .raddr_i(look_queue),
      .rdata_o(granted_ever)
  );
  logic [3:0] packets;
  logic [ClockW-1:0] wake, now;
  rate_buckets #(
      .Queues(Queues),
      .ClockW(ClockW)
  ) i_buckets (
      .clk_i,
      .rst_i,
      .ready_o(buckets_ready),
      .regs(limits),
      .refused_o,
      .longest_i,
      .charge_i(begun_i),
      .charged_i(begun_packet_i),
      .ask_i(look),
      .ask_queue_i(look_queue),
      .ask_granted_i(granted_ever),
      .packets_o(packets),
      .wake_o(wake),
      .now_o(now)
  );

  // ---- And is granted or parked.
  logic [Asking-1:0] looking_q;
  index_t [Asking-1:0] looked_q;
  wire fits = looking_q[Asking-1] && packets != '0;
  wire park = looking_q[Asking-1] && packets == '0;
  wire index_t looked = looked_q[Asking-1];
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
      .push_queue_i(looked),
      .due_o(due),
      .some_o(again),
      .head_o(again_queue),
      .pop_i(look && from_wheel)
  );

  `STREAM(fit_t, fit_in)
  `STREAM(fit_t, fit)
  assign fit_in.valid = fits;
  assign fit_in.data  = '{queue: looked, packets: packets};
  `FIFO(fit_t, Looks, i_fits, fit_in, fit)

  logic offer_q, gap_q;
  grant_t grant_q;
  wire [3:0] most = room_i < max_burst_i ? room_i : max_burst_i;
  assign fit.ready = room_i != '0 && !gap_q && (!offer_q || grant.ready);
  wire offer = fit.valid && fit.ready;
  assign grant.valid = offer_q;
  assign grant.data  = grant_q;

  always_ff @(posedge clk_i) begin
    if (look) wheel_next_q <= !from_wheel;
    looks_q <= looks_q + ($bits(
        looks_q
    ))'(look) - ($bits(
        looks_q
    ))'(park) - ($bits(
        looks_q
    ))'(offer);
    looking_q <= {looking_q[Asking-2:0], look};
    looked_q <= {looked_q[Asking-2:0], look_queue};
    gap_q <= offer;
    if (offer) begin
      offer_q <= 1'b1;
      grant_q <= '{
          queue: 16'(fit.data.queue),
          max: fit.data.packets < most ? fit.data.packets : most,
          granules: '0
      };
    end else if (grant.ready) offer_q <= 1'b0;
    if (rst_i) begin
      wheel_next_q <= 1'b0;
      looks_q <= '0;
      looking_q <= '0;
      gap_q <= 1'b0;
      offer_q <= 1'b0;
    end
  end

  `ASSERT(TurnHasRoom, turn_in.valid |-> turn_in.ready)
  `ASSERT(FitHasRoom, fit_in.valid |-> fit_in.ready)
endmodule

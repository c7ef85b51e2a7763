// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit scheduler of queues in `Classes` classes, a queue's share being its class: which of the open classes is served is the
/// scheduler's around it; within a class queues have their turns one after another.
///
/// A grant is of up to `max_burst_i` and `room_i` packets, of the class `chosen_i` among those on `some_o`, which are `open_i` and have a
/// queue with work. With `room_i` 0 there are none. Ports and registers otherwise as sched_queues has them; packets in flight are not
/// counted and read as 0. A grant every second clock; 6 clocks from a doorbell, or from `granted`, to a grant. A grant that is on
/// offer is not taken back. Reset as sched_queues.
module sched_classes
  import queue_pkg::*;
#(
    parameter  int Queues  = 256,
    parameter  int Classes = 8,
    localparam int ClassW  = $clog2(Classes)
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic         [3:0] max_burst_i,  // 1 ... 8
    input logic         [3:0] room_i,       // 0 ... 8
          reg_if.slave        regs,
          stream_if.snk       doorbell,     // queue_t
          stream_if.src       grant,        // grant_t
          stream_if.snk       granted,      // granted_t

    input  logic [Classes-1:0] open_i,
    output logic [Classes-1:0] some_o,
    input  logic [ ClassW-1:0] chosen_i,
    output logic               served_o   // and that one is
);
  localparam int IndexW = $clog2(Queues);
  localparam int CountW = 1;
  typedef logic [IndexW-1:0] index_t;

  logic turn, unused_ready, unused_access, unused_known, unused_counted;
  index_t queue, unused_queue, head;
  logic [CountW-1:0] unused_granted, unused_before;
  logic [ClassW-1:0] share;
  sched_queues #(
      .Queues(Queues),
      .CountW(CountW),
      .ShareW(ClassW)
  ) i_queues (
      .clk_i,
      .rst_i,
      .regs,
      .doorbell,
      .granted,
      .ready_i(1'b1),
      .ready_o(unused_ready),
      .access_o(unused_access),
      .access_known_o(unused_known),
      .access_queue_o(unused_queue),
      .in_flight_i('0),
      .turn_o(turn),
      .counted_o(unused_counted),
      .queue_o(queue),
      .granted_o(unused_granted),
      .before_o(unused_before),
      .share_o(share)
  );

  // A class is chosen in one clock, its queue taken in the next.
  logic turn_q, pick_q, offer_q;
  index_t turn_queue_q;
  logic [ClassW-1:0] turn_class_q, class_q;
  logic [Classes-1:0] some;
  index_t queue_q;
  logic [3:0] max_q;
  wire free = !pick_q && (!offer_q || grant.ready) && room_i != '0;
  assign some_o = free ? some & open_i : '0;
  assign served_o = some_o != '0;
  assign grant.valid = offer_q;
  assign grant.data = '{queue: 16'(queue_q), max: max_q, granules: '0};

  queue_lists #(
      .Queues(Queues),
      .Lists (Classes)
  ) i_lists (
      .clk_i,
      .rst_i,
      .push_i(turn_q),
      .push_list_i(turn_class_q),
      .push_queue_i(turn_queue_q),
      .some_o(some),
      .pop_i(pick_q),
      .pop_list_i(class_q),
      .head_o(head)
  );

  always_ff @(posedge clk_i) begin
    turn_q <= turn;
    turn_queue_q <= queue;
    turn_class_q <= share;
    pick_q <= served_o;
    class_q <= chosen_i;
    if (pick_q) begin
      offer_q <= 1'b1;
      queue_q <= head;
    end else if (grant.ready) offer_q <= 1'b0;
    if (served_o) max_q <= room_i < max_burst_i ? room_i : max_burst_i;
    if (rst_i) begin
      turn_q  <= 1'b0;
      pick_q  <= 1'b0;
      offer_q <= 1'b0;
    end
  end

  `ASSERT(ChoosesWhatIs, served_o |-> some_o[chosen_i])
endmodule

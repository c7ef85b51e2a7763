// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// A timing wheel: queues wait in the slot of the time from which they may be looked at again, then in the list of those whose time
/// has come. Both are linked lists in one RAM of a word a queue: a queue is in one place at the most, once.
///
/// Time is counted in slots (`slot_i`, one up at a time, modulo 2^TimeW). A push a clock: into the slot `push_slot_i`; into the one taken
/// next where that has passed, into the last of the wheel where it is `Slots` or more ahead (half of 2^TimeW at the most). When its time has come a slot's list is hung
/// behind the others at once, however long it is: 3 clocks later, and later by the clocks in which something is pushed (`due_o`
/// asks for one without). `some_o`: a queue can be taken, `head_o`, with `pop_i`; the next one two clocks later. After reset the slots are cleared,
/// in `Slots` clocks (`ready_o`); no push before.
module queue_wheel #(
    parameter int Queues = 256,
    parameter int Slots = 2048,  // a power of two
    parameter int TimeW = 29,
    localparam int IndexW = $clog2(Queues),
    localparam int SlotW = $clog2(Slots)
) (
    input  logic              clk_i,
    input  logic              rst_i,
    output logic              ready_o,
    input  logic [ TimeW-1:0] slot_i,
    input  logic              push_i,
    input  logic [ TimeW-1:0] push_slot_i,
    input  logic [IndexW-1:0] push_queue_i,
    output logic              due_o,
    output logic              some_o,
    output logic [IndexW-1:0] head_o,
    input  logic              pop_i
);
  if (Slots != 2 ** SlotW || TimeW < SlotW + 2) begin : g_bad_parameter
    $fatal(1, "queue_wheel: Slots %0d is no power of two, or TimeW %0d too small", Slots, TimeW);
  end
  typedef logic [IndexW-1:0] index_t;
  typedef struct packed {
    logic   some;
    index_t head;
    index_t tail;
  } list_t;

  // ---- Slots: a push or the taking of a whole slot each clock, two clocks later its effect.
  logic [TimeW-1:0] next_q;  // slot to be taken next
  wire [TimeW-1:0] ahead = push_slot_i - next_q;
  wire [SlotW-1:0] place = ahead[TimeW-1] ? '0 : ahead[TimeW-2:SlotW] != '0 ? '1 : ahead[SlotW-1:0];
  assign due_o = ready_o && slot_i == next_q;
  wire take = due_o && !push_i;
  logic [1:0] push_q, take_q;
  index_t [1:0] queue_q;
  list_t slot, slot_next;
  rmw_ram #(
      .T(list_t),
      .Depth(Slots)
  ) i_slots (
      .clk_i,
      .rst_i,
      .ready_o,
      .start_i(push_i || take),
      .index_i(next_q[SlotW-1:0] + (push_i ? place : '0)),
      .now_o  (slot),
      .next_i (slot_next)
  );
  assign slot_next = take_q[1] ? '0 : push_q[1] ?
      '{some: 1'b1, head: slot.some ? slot.head : queue_q[1], tail: queue_q[1]}
      : slot;

  // ---- Those whose time has come.
  logic some_q, moving_q;  // moving: the head after the one taken is being read
  index_t head_q, tail_q, next_head;
  assign some_o = some_q && !moving_q;
  assign head_o = head_q;
  wire last = pop_i && head_q == tail_q;
  wire joins = take_q[1] && slot.some;
  wire behind = joins && some_q && !last;

  ram_sdp #(
      .Width(IndexW),
      .Depth(Queues)
  ) i_links (
      .clk_i,
      .we_i   (behind || (push_q[1] && slot.some)),
      .waddr_i(take_q[1] ? tail_q : slot.tail),
      .wdata_i(take_q[1] ? slot.head : queue_q[1]),
      .re_i   (pop_i),
      .raddr_i(head_q),
      .rdata_o(next_head)
  );

  always_ff @(posedge clk_i) begin
    push_q   <= {push_q[0], push_i};
    take_q   <= {take_q[0], take};
    queue_q  <= {queue_q[0], push_queue_i};
    next_q   <= !ready_o ? slot_i + 1'b1 : next_q + TimeW'(take);

    moving_q <= pop_i && !last;
    if (moving_q) head_q <= next_head;
    if (last) some_q <= 1'b0;
    if (joins) begin
      some_q <= 1'b1;
      tail_q <= slot.tail;
      if (!behind) head_q <= slot.head;
    end
    if (rst_i) begin
      push_q   <= '0;
      take_q   <= '0;
      next_q   <= '0;
      some_q   <= 1'b0;
      moving_q <= 1'b0;
    end
  end

  `ASSERT(TakesWhatIs, pop_i |-> some_o)
  `ASSERT(PushedWhenReady, push_i |-> ready_o)
  `ASSERT(KeepsUp, ready_o |-> TimeW'(next_q - slot_i) <= 1)
endmodule

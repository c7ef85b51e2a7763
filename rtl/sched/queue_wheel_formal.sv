// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=14 timeout=300
`include "formal.svh"
`include "rmw_ram_model.svh"
/// queue_wheel, in its first clocks: a queue that was pushed comes out once, not before its time, and its slot is taken this time around; while
/// there is a queue whose time has come, one can be taken, but for the clock after one was. Relies on: no queue is pushed that is
/// inside; none is taken when there is none. Three queues, two slots.
module queue_wheel_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       step_i,        // time goes on
    input logic       push_i,
    input logic [2:0] push_slot_i,
    input logic [1:0] push_queue_i,
    input logic       pop_i
);
  `FORMAL_BEGIN
  localparam int Queues = 3, Slots = 2, TimeW = 3;
  logic ready, due, some;
  logic [1:0] head;
  logic [TimeW-1:0] slot_q;
  queue_wheel #(
      .Queues(Queues),
      .Slots (Slots),
      .TimeW (TimeW)
  ) dut (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .slot_i (slot_q),
      .push_i,
      .push_slot_i,
      .push_queue_i,
      .due_o  (due),
      .some_o (some),
      .head_o (head),
      .pop_i
  );

  // Where each queue is, and the slot it may be taken from: what was asked for, kept between the next one and the last.
  logic [Queues-1:0] inside_q, waits_q, hung_q;
  logic [Queues-1:0][TimeW-1:0] from_q;
  wire [TimeW-1:0] ahead = push_slot_i - dut.next_q;
  wire [TimeW-1:0] from = dut.next_q + (ahead[TimeW-1] ? '0 : ahead >= Slots ? TimeW'(Slots - 1) : ahead);
  logic [Queues-1:0] push, pop, hang;
  logic [1:0] taking_q;
  logic [1:0][TimeW-1:0] taken_q;
  always_comb begin
    for (int q = 0; q < Queues; q++) begin
      push[q] = push_i && push_queue_i == 2'(q);
      pop[q]  = pop_i && head == 2'(q);
      hang[q] = taking_q[1] && waits_q[q] && from_q[q] == taken_q[1];
    end
  end
  always_ff @(posedge clk_i) begin
    slot_q   <= slot_q + TimeW'(step_i);
    inside_q <= (inside_q | push) & ~pop;
    waits_q  <= (waits_q | push) & ~hang;
    hung_q   <= (hung_q | hang) & ~pop;
    taking_q <= {taking_q[0], due && !push_i};
    taken_q  <= {taken_q[0], dut.next_q};
    for (int q = 0; q < Queues; q++) if (push[q]) from_q[q] <= from;
    if (rst_i) {inside_q, waits_q, hung_q, taking_q, slot_q} <= '0;
  end

  always_comb begin
    assume (push_queue_i < 2'(Queues));
    if (!ready) assume (!push_i);
    if (due) assume (!step_i);  // a slot is long
    if (started_q) begin
      if (push_i) assume (!inside_q[push_queue_i]);
      if (pop_i) assume (some);
      assert (dut.some_q == (hung_q != '0));
      assert (some == (hung_q != '0 && !dut.moving_q));
      if (pop_i) assert (hung_q[head]);
      for (int q = 0; q < Queues; q++) begin
        assert (inside_q[q] == (waits_q[q] || hung_q[q]) && !(waits_q[q] && hung_q[q]));
        if (hang[q]) assert (TimeW'(slot_q - from_q[q]) <= 1);
        // It is still to be taken, or just was.
        if (waits_q[q])
          assert (TimeW'(from_q[q] - dut.next_q) < Slots || (taking_q[1] && from_q[q] == taken_q[1]) ||
                  (taking_q[0] && from_q[q] == taken_q[0]));
      end
      cover (&hung_q);
      cover (hung_q == 3'b001 && waits_q[2:1] == 2'b11 && taking_q[1]);
      cover (pop_i && taking_q[1] && hang != '0 && $onehot(hung_q));
    end
  end
endmodule

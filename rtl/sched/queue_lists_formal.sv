// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=16
`include "formal.svh"
/// queue_lists against FIFOs in software: what is taken of a list is what was pushed into it first, and a list says that it has some
/// while it does, but for the clock after one was taken. Relies on: no queue is pushed that is in a list; none is taken from a list that has
/// none to take. Three queues, two lists.
module queue_lists_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       push_i,
    input logic       push_list_i,
    input logic [1:0] push_queue_i,
    input logic       pop_i,
    input logic       pop_list_i
);
  `FORMAL_BEGIN
  localparam int Queues = 3, Lists = 2;
  logic [Lists-1:0] some;
  logic [1:0] head;
  queue_lists #(
      .Queues(Queues),
      .Lists (Lists)
  ) dut (
      .clk_i,
      .rst_i,
      .push_i,
      .push_list_i,
      .push_queue_i,
      .some_o(some),
      .pop_i,
      .pop_list_i,
      .head_o(head)
  );

  // The FIFOs: as many as `count_q`, the first at 0.
  logic [Lists-1:0][Queues-1:0][1:0] fifo_q;
  logic [Lists-1:0][1:0] count_q;
  logic [Queues-1:0] in_q;
  logic [Lists-1:0] push, pop;
  always_comb begin
    for (int l = 0; l < Lists; l++) begin
      push[l] = push_i && push_list_i == 1'(l);
      pop[l]  = pop_i && pop_list_i == 1'(l);
    end
  end
  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lists; l++) begin
      if (pop[l]) for (int i = 0; i + 1 < Queues; i++) fifo_q[l][i] <= fifo_q[l][i+1];
      if (push[l]) fifo_q[l][count_q[l]-2'(pop[l])] <= push_queue_i;
      count_q[l] <= count_q[l] + 2'(push[l]) - 2'(pop[l]);
    end
    if (pop_i) in_q[head] <= 1'b0;
    if (push_i) in_q[push_queue_i] <= 1'b1;
    if (rst_i) {count_q, in_q} <= '0;
  end

  logic [Queues-1:0][2:0] places;  // in all lists
  always_comb begin
    places = '0;
    for (int l = 0; l < Lists; l++)
    for (int i = 0; i < Queues; i++)
    if (2'(i) < count_q[l]) places[fifo_q[l][i]] = places[fifo_q[l][i]] + 1'b1;
  end
  always_comb begin
    assume (push_queue_i < 2'(Queues));
    if (started_q) begin
      if (push_i) assume (!in_q[push_queue_i]);
      if (pop_i) assume (some[pop_list_i]);
      for (int l = 0; l < Lists; l++) begin
        assert (some[l] == (count_q[l] != 0 && !dut.moving_q[l]));
        if (pop[l]) assert (head == fifo_q[l][0]);
        // How it is kept.
        assert (dut.some_q[l] == (count_q[l] != 0) && count_q[l] <= 2'(Queues));
        assert (!dut.moving_q[l] || (dut.moving_list_q == 1'(l) && count_q[l] != 0));
        if (count_q[l] != 0) begin
          assert (dut.tail_q[l] == fifo_q[l][count_q[l]-2'd1]);
          assert ((dut.moving_q[l] ? dut.next : dut.head_q[l]) == fifo_q[l][0]);
        end
        for (int i = 0; i + 1 < Queues; i++)
        if (2'(i + 1) < count_q[l]) assert (dut.i_next.mem[fifo_q[l][i]] == fifo_q[l][i+1]);
        for (int i = 0; i < Queues; i++) if (2'(i) < count_q[l]) assert (fifo_q[l][i] < 2'(Queues));
      end
      for (int q = 0; q < Queues; q++) assert (places[q] == 3'(in_q[q]));
      cover (count_q[0] == 2'd2 && count_q[1] == 2'd1);
      cover (push[0] && pop[0] && count_q[0] == 2'd1);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=28 timeout=900 suite=24
`include "formal.svh"
`include "rmw_ram_model.svh"
/// rank_ring, in its first clocks: a queue that was pushed comes out once, with its rank; none comes out before one of a smaller rank that has been inside for
/// `Late` clocks, nor before one of its own rank that was pushed before it; and while there is a queue, one comes. Relies on: no queue is pushed that is inside,
/// none is taken when there is none, a class's order does not move past a queue. Three queues, two classes of two words of two places.
module rank_ring_formal (
    input logic            clk_i,
    input logic            rst_i,
    input logic [1:0][0:0] first_i,       // stays as it is
    input logic            push_i,
    input logic            push_class_i,
    input logic [1:0]      push_place_i,
    input logic [1:0]      push_queue_i,
    input logic            pop_i
);
  `FORMAL_BEGIN
  localparam int Queues = 3, Late = 13, Soon = 20;
  logic ready, some, cls;
  logic [1:0] place, head;
  rank_ring #(
      .Queues  (Queues),
      .Classes (2),
      .LogWords(1),
      .LogBits (1)
  ) dut (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .first_i,
      .push_i,
      .push_class_i,
      .push_place_i,
      .push_queue_i,
      .some_o (some),
      .class_o(cls),
      .place_o(place),
      .head_o (head),
      .pop_i
  );

  logic [Queues-1:0] inside_q;
  logic [Queues-1:0][2:0] rank_q;
  logic [Queues-1:0][4:0] age_q;
  logic [4:0] quiet_q;  // clocks without a push or a pop, with a queue inside
  logic [1:0] before_q;
  logic pushed_q;
  function automatic logic [2:0] order(logic [2:0] rank);
    order = {rank[2], 1'(rank[1] - first_i[rank[2]]), rank[0]};
  endfunction
  always_ff @(posedge clk_i) begin
    for (int q = 0; q < Queues; q++) begin
      if (age_q[q] != '1) age_q[q] <= age_q[q] + 1'b1;
      if (pop_i && head == 2'(q)) inside_q[q] <= 1'b0;
      if (push_i && push_queue_i == 2'(q)) begin
        inside_q[q] <= 1'b1;
        rank_q[q] <= {push_class_i, push_place_i};
        age_q[q] <= '0;
      end
    end
    quiet_q  <= push_i || pop_i || inside_q == '0 || !ready ? '0 : quiet_q + 5'(quiet_q != '1);
    before_q <= first_i;
    pushed_q <= push_i;
    if (rst_i) begin
      pushed_q <= 1'b0;
      inside_q <= '0;
      quiet_q  <= '0;
    end
  end

  always_comb begin
    assume (push_queue_i < 2'(Queues));
    if (!ready || pushed_q) assume (!push_i);
    if (started_q) begin
      assume (first_i == before_q);
      if (push_i) assume (!inside_q[push_queue_i]);
      if (pop_i) assume (some);
      if (some) begin
        assert (inside_q[head]);
        assert (rank_q[head] == {cls, place});
        for (int q = 0; q < Queues; q++)
        if (inside_q[q] && age_q[q] >= 5'(Late)) begin
          assert (order(rank_q[q]) >= order(rank_q[head]));
          if (rank_q[q] == rank_q[head]) assert (age_q[q] <= age_q[head]);
        end
      end
      assert (quiet_q < 5'(Soon) || some);
      cover (pop_i && &inside_q && rank_q[0] == rank_q[1] && age_q[head] > 9);
      cover (dut.back && &inside_q && dut.head_q != dut.tail_q);
      cover (pop_i && quiet_q > 8 && first_i != '0);
    end
  end
endmodule

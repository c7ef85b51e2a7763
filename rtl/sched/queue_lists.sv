// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// FIFOs of queues, `Lists` of them in one RAM of a word a queue: linked lists. A queue is in one of them at the most, once.
///
/// A push a clock, to any list. `some_o` tells which lists have a queue that can be taken; its number is on `head_o` for the list
/// `pop_list_i`, in the same clock, and it is taken with `pop_i`. A list's next one can be taken two clocks later, other lists' at
/// once. A queue pushed into an empty list can be taken a clock later. Reset empties all lists, at once.
module queue_lists #(
    parameter  int Queues = 256,
    parameter  int Lists  = 8,
    localparam int IndexW = $clog2(Queues),
    localparam int ListW  = Lists > 1 ? $clog2(Lists) : 1
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic              push_i,
    input  logic [ ListW-1:0] push_list_i,
    input  logic [IndexW-1:0] push_queue_i,
    output logic [ Lists-1:0] some_o,
    input  logic              pop_i,
    input  logic [ ListW-1:0] pop_list_i,
    output logic [IndexW-1:0] head_o
);
  typedef logic [IndexW-1:0] index_t;
  index_t head_q[Lists], tail_q[Lists], next;
  logic [Lists-1:0] some_q, moving_q;  // moving: the head after the one taken is being read
  logic [ListW-1:0] moving_list_q;
  assign some_o = some_q & ~moving_q;
  assign head_o = head_q[pop_list_i];

  wire last = head_o == tail_q[pop_list_i];  // the one taken
  wire meets = push_i && pop_i && push_list_i == pop_list_i;
  wire behind = push_i && some_q[push_list_i] && !(meets && last);

  ram_sdp #(
      .Width(IndexW),
      .Depth(Queues)
  ) i_next (
      .clk_i,
      .we_i   (behind),
      .waddr_i(tail_q[push_list_i]),
      .wdata_i(push_queue_i),
      .re_i   (pop_i),
      .raddr_i(head_o),
      .rdata_o(next)
  );

  always_ff @(posedge clk_i) begin
    moving_q <= '0;
    if (|moving_q) head_q[moving_list_q] <= next;
    if (pop_i) begin
      moving_list_q <= pop_list_i;
      if (last) some_q[pop_list_i] <= 1'b0;
      else moving_q[pop_list_i] <= 1'b1;
    end
    if (push_i) begin
      tail_q[push_list_i] <= push_queue_i;
      some_q[push_list_i] <= 1'b1;
      if (!behind) head_q[push_list_i] <= push_queue_i;
    end
    if (rst_i) begin
      some_q   <= '0;
      moving_q <= '0;
    end
  end

  `ASSERT(TakesWhatIs, pop_i |-> some_o[pop_list_i])
endmodule

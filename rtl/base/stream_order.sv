// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// `N` streams into one, in an order that is told: each beat of `order` is the number of the input whose beat comes next.
///
/// Combinational, one beat a clock. An input that has nothing when its turn comes holds up the others. The number is taken with its beat.
module stream_order #(
    parameter type T = logic,
    parameter int N = 2,
    localparam int IndexW = N > 1 ? $clog2(N) : 1
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk in   [N],
          stream_if.snk order,     // IndexW bits, or more that are 0
          stream_if.src out
);
  logic [N-1:0] valid;
  T data[N];
  wire [IndexW-1:0] turn = IndexW'(order.data);

  for (genvar i = 0; i < N; i++) begin : g_in
    assign valid[i] = in[i].valid;
    assign data[i] = in[i].data;
    assign in[i].ready = out.valid && out.ready && turn == IndexW'(i);
  end
  assign out.valid   = order.valid && valid[turn];
  assign out.data    = data[turn];
  assign order.ready = out.valid && out.ready;

  `ASSERT(InputExists, order.valid |-> int'(order.data) < N)
endmodule

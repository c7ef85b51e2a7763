// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// One stream to `N`: each beat goes to the output that `select_i` names with it.
///
/// Combinational, one beat a clock. A beat for an output that is not ready holds up the ones behind it.
module stream_demux #(
    parameter type T = logic,
    parameter int N = 2,
    localparam int IndexW = N > 1 ? $clog2(N) : 1
) (
    input logic                      clk_i,
    input logic                      rst_i,
          stream_if.snk              in,
    input logic         [IndexW-1:0] select_i,    // valid with in.valid
          stream_if.src              out     [N]
);
  logic [N-1:0] ready;
  assign in.ready = ready[select_i];

  for (genvar i = 0; i < N; i++) begin : g_out
    assign out[i].valid = in.valid && select_i == IndexW'(i);
    assign out[i].data = in.data;
    assign ready[i] = out[i].ready;
  end

  `ASSERT(SelectInRange, in.valid |-> int'(select_i) < N)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// One stream to all of `N`: each beat goes to every output once.
///
/// Outputs take a beat independently; the input moves on when all have it. Latency 0, one beat a clock when all are ready.
module stream_fork #(
    parameter type T = logic,
    parameter int  N = 2
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk in,
          stream_if.src out  [N]
);
  logic [N-1:0] ready, done_q;

  // Every output has the beat, from before or now.
  assign in.ready = &(ready | done_q);

  for (genvar i = 0; i < N; i++) begin : g_out
    assign out[i].valid = in.valid && !done_q[i];
    assign out[i].data = in.data;
    assign ready[i] = out[i].ready;
  end

  always_ff @(posedge clk_i) begin
    if (in.valid) done_q <= in.ready ? '0 : done_q | ready;
    if (rst_i) done_q <= '0;
  end

  `ASSERT(DoneOnlyWhileWaiting, |done_q |-> in.valid)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Round-robin arbiter: `N` streams into one.
///
/// The input after the last one served has the highest priority, so a waiting input is served after at most N-1 others.
/// Combinational, one beat a clock. A choice, once offered downstream, is kept until it is taken.
module arb_rr #(
    parameter type T = logic,
    parameter int N = 2,
    localparam int IndexW = N > 1 ? $clog2(N) : 1
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
           stream_if.snk              in     [N],
           stream_if.src              out,
    output logic         [IndexW-1:0] index_o      // which input `out` carries
);
  logic [N-1:0] valid;
  T data[N];
  logic [IndexW-1:0] next_q, choice, kept_q;
  logic keep_q;

  for (genvar i = 0; i < N; i++) begin : g_in
    assign valid[i] = in[i].valid;
    `WHILE(valid[i], data[i], in[i].data)
    assign in[i].ready = out.ready && index_o == IndexW'(i);
  end

  // The first valid input at or after next_q, or else the first valid one.
  always_comb begin
    choice = '0;
    for (int i = N - 1; i >= 0; i--) if (valid[i]) choice = IndexW'(i);
    for (int i = N - 1; i >= 0; i--) if (valid[i] && IndexW'(i) >= next_q) choice = IndexW'(i);
  end

  assign index_o   = keep_q ? kept_q : choice;
  assign out.valid = |valid;
  assign out.data  = data[index_o];

  always_ff @(posedge clk_i) begin
    keep_q <= out.valid && !out.ready;
    kept_q <= index_o;
    if (out.valid && out.ready) next_q <= (index_o == IndexW'(N - 1)) ? '0 : index_o + 1'b1;
    if (rst_i) begin
      keep_q <= 1'b0;
      next_q <= '0;
    end
  end

  `ASSERT(ChosenIsValid, out.valid |-> valid[index_o])
endmodule

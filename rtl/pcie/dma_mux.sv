// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
`include "assert.svh"
/// Combines the DMA requests of `N` clients (host-nic paper, section II-E: descriptors go before packet data).
///
/// The clients of the mask `High` go before all others; within a class they take turns. `High` is for clients that ask for
/// little: while one of them always has a request, the others wait. `sel` is set to the number of the client, so that it
/// finds its RAM and its statuses by it. Latency 1 clock, one request a clock, full back-pressure, order kept for each
/// client. Reset drops the request held. Drops nothing else.
module dma_mux
  import dma_pkg::*;
#(
    parameter int N = 2,
    parameter logic [N-1:0] High = '0
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk in   [N],  // dma_req_t
          stream_if.src out        // dma_req_t
);
  localparam int IndexW = (N > 1) ? $clog2(N) : 1;
  if (N < 1 || N > 2 ** SelW) begin : g_bad_parameter
    $fatal(1, "dma_mux: %0d clients do not fit in sel", N);
  end

  logic [N-1:0] valid;
  dma_req_t data[N];
  logic [IndexW-1:0] choice;
  logic full_q;
  dma_req_t out_q;
  wire advance = !full_q || out.ready;

  for (genvar i = 0; i < N; i++) begin : g_in
    assign valid[i] = in[i].valid;
    `WHILE(valid[i], data[i], in[i].data)
    assign in[i].ready = advance && choice == IndexW'(i);
  end

  // Clients that come after the last one served of their class.
  logic [N-1:0] after_high_q, after_low_q;
  wire any_high = |(valid & High);
  wire [N-1:0] waiting = any_high ? valid & High : valid & ~High;
  wire [N-1:0] preferred = waiting & (any_high ? after_high_q : after_low_q);
  wire [N-1:0] candidates = (preferred != '0) ? preferred : waiting;

  always_comb begin
    choice = '0;
    for (int i = N - 1; i >= 0; i--) if (candidates[i]) choice = IndexW'(i);
  end

  wire take = advance && (valid != '0);
  assign out.valid = full_q;
  assign out.data  = out_q;

  always_ff @(posedge clk_i) begin
    if (take) begin
      out_q <= data[choice];
      out_q.sel <= ram_sel_t'(choice);
      full_q <= 1'b1;
      if (any_high) after_high_q <= {N{1'b1}} << choice << 1;
      else after_low_q <= {N{1'b1}} << choice << 1;
    end else if (out.ready) begin
      full_q <= 1'b0;
    end
    if (rst_i) begin
      full_q <= 1'b0;
      after_high_q <= '0;
      after_low_q <= '0;
    end
  end

  `ASSERT(ChosenIsValid, take |-> valid[choice])
  `ASSERT(HighFirst, take && any_high |-> High[choice])
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// First-in first-out buffer in RAM with a registered output.
///
/// Holds `Depth` beats (any number from 2). Latency 2 clocks when empty, one beat a clock, full back-pressure; `count_o` is
/// the number of beats held. Reset empties it. Drops nothing: a full FIFO is not ready.
module fifo #(
    parameter type T = logic,
    parameter int Depth = 16,
    localparam int CountW = $clog2(Depth + 1)
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
           stream_if.snk              in,
           stream_if.src              out,
    output logic         [CountW-1:0] count_o
);
  if (Depth < 2) begin : g_bad_parameter
    $fatal(1, "fifo: Depth %0d is below 2", Depth);
  end

  localparam int PtrW = $clog2(Depth);
  localparam logic [PtrW-1:0] Last = PtrW'(Depth - 1);

  T mem[Depth];
  T head_q;
  logic head_full_q;
  logic [PtrW-1:0] write_q, read_q;
  logic [CountW-1:0] stored_q;  // in mem, the head not counted

  assign in.ready  = count_o < CountW'(Depth);
  assign out.valid = head_full_q;
  assign out.data  = head_q;
  assign count_o   = stored_q + CountW'(head_full_q);

  wire push = in.valid && in.ready;
  // The head is refilled in the clock in which it is empty or taken.
  wire pop = (stored_q != '0) && (!head_full_q || out.ready);

  always_ff @(posedge clk_i) begin
    if (push) begin
      mem[write_q] <= in.data;
      write_q <= (write_q == Last) ? '0 : write_q + 1'b1;
    end
    if (pop) begin
      head_q <= mem[read_q];
      read_q <= (read_q == Last) ? '0 : read_q + 1'b1;
    end
    if (pop) head_full_q <= 1'b1;
    else if (out.ready) head_full_q <= 1'b0;
    stored_q <= stored_q + CountW'(push) - CountW'(pop);
    if (rst_i) begin
      write_q <= '0;
      read_q <= '0;
      stored_q <= '0;
      head_full_q <= 1'b0;
    end
  end

  `ASSERT(NeverOverfull, count_o <= CountW'(Depth))
endmodule

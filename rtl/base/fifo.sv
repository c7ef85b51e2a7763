// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// First-in first-out buffer in RAM with a registered output.
///
/// Holds `Depth` beats (any number from 2). Latency 2 clocks when empty, one beat a clock, full back-pressure; `count_o` is
/// the number of beats held. Reset empties it. Drops nothing: a full FIFO is not ready.
/// `Registered`: the output is a register of its own and not the RAM's, from which data comes a nanosecond late; for deep FIFOs
/// with logic behind. Nothing else changes, not by a clock: the next beat is read ahead, or kept beside the RAM when it is new.
module fifo #(
    parameter type T = logic,
    parameter int Depth = 16,
    parameter bit Registered = 1'b0,
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

  wire  push = in.valid && in.ready;
  // The head is refilled in the clock in which it is empty or taken.
  wire  pop = (stored_q != '0) && (!head_full_q || out.ready);

  logic step;  // past the word that is read
  if (Registered) begin : g_registered
    T ahead_q, newest_q;
    logic ahead_full_q;
    // Without one read ahead there is at most one in mem, pushed in the clock before.
    wire  fetch = ahead_full_q ? pop && stored_q > 1 : !pop && stored_q != '0;
    assign step = fetch || (pop && !ahead_full_q);
    always_ff @(posedge clk_i) begin
      if (push) newest_q <= in.data;
      // Whether anything is there comes too late to decide on a read: what is not to be kept is read over.
      if (!ahead_full_q || !head_full_q || out.ready) ahead_q <= mem[read_q];
      if (pop) head_q <= ahead_full_q ? ahead_q : newest_q;
      if (fetch || pop) ahead_full_q <= fetch;
      if (rst_i) ahead_full_q <= 1'b0;
    end
    `ASSERT(OneAtMost, !ahead_full_q |-> stored_q <= 1)
  end else begin : g_plain
    assign step = pop;
    always_ff @(posedge clk_i) if (pop) head_q <= mem[read_q];
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      `STORE(mem[write_q], in.data)
      write_q <= (write_q == Last) ? '0 : write_q + 1'b1;
    end
    if (step) read_q <= (read_q == Last) ? '0 : read_q + 1'b1;
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

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// First-in first-out buffer between two clocks, with Gray-coded pointers.
///
/// `in` belongs to `wclk_i`, `out` to `rclk_i`. Holds `Depth` beats (a power of two). One beat a clock on each side, full
/// back-pressure, latency 1 write clock and about 3 read clocks. `count_o` (write domain) is at least the number of beats
/// held. Both resets must be given together. Drops nothing.
module fifo_async #(
    parameter type T = logic,
    parameter int Depth = 16,
    localparam int PtrW = $clog2(Depth)
) (
    input  logic                  wclk_i,
    input  logic                  wrst_i,
           stream_if.snk          in,
    output logic         [PtrW:0] count_o,
    input  logic                  rclk_i,
    input  logic                  rrst_i,
           stream_if.src          out
);
  if (Depth < 4 || 2 ** PtrW != Depth) begin : g_bad_parameter
    $fatal(1, "fifo_async: Depth %0d is not a power of two from 4", Depth);
  end

  function automatic logic [PtrW:0] to_gray(logic [PtrW:0] binary);
    return binary ^ (binary >> 1);
  endfunction

  function automatic logic [PtrW:0] from_gray(logic [PtrW:0] gray);
    logic [PtrW:0] binary;
    binary = gray;
    for (int shift = 1; shift <= PtrW; shift *= 2) binary ^= binary >> shift;
    return binary;
  endfunction

  T mem[Depth];
  logic [PtrW:0] read_gray_q;

  // Write side.
  logic [PtrW:0] write_q, write_gray_q, read_gray_at_w;
  sync_2ff #(
      .Width(PtrW + 1)
  ) i_read_ptr (
      .clk_i(wclk_i),
      .rst_i(wrst_i),
      .d_i  (read_gray_q),
      .q_o  (read_gray_at_w)
  );

  assign count_o  = write_q - from_gray(read_gray_at_w);
  assign in.ready = count_o < (PtrW + 1)'(Depth);
  wire push = in.valid && in.ready;

  always_ff @(posedge wclk_i) begin
    if (push) begin
      mem[write_q[PtrW-1:0]] <= in.data;
      write_q <= write_q + 1'b1;
      write_gray_q <= to_gray(write_q + 1'b1);
    end
    if (wrst_i) begin
      write_q <= '0;
      write_gray_q <= '0;
    end
  end

  // Read side.
  logic [PtrW:0] read_q, write_gray_at_r;
  T head_q;
  logic head_full_q;
  sync_2ff #(
      .Width(PtrW + 1)
  ) i_write_ptr (
      .clk_i(rclk_i),
      .rst_i(rrst_i),
      .d_i  (write_gray_q),
      .q_o  (write_gray_at_r)
  );

  wire filled = write_gray_at_r != read_gray_q;
  // The head is refilled in the clock in which it is empty or taken.
  wire pop = filled && (!head_full_q || out.ready);
  assign out.valid = head_full_q;
  assign out.data  = head_q;

  always_ff @(posedge rclk_i) begin
    if (pop) begin
      head_q <= mem[read_q[PtrW-1:0]];
      read_q <= read_q + 1'b1;
      read_gray_q <= to_gray(read_q + 1'b1);
      head_full_q <= 1'b1;
    end else if (out.ready) begin
      head_full_q <= 1'b0;
    end
    if (rrst_i) begin
      read_q <= '0;
      read_gray_q <= '0;
      head_full_q <= 1'b0;
    end
  end

  `ASSERT(NeverOverfull, count_o <= (PtrW + 1)'(Depth), wclk_i, wrst_i)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The FIFO at the end of each link of the on-chip networks.
///
/// Holds `Depth` words (a power of two). Latency 1 clock, one word a clock; `in.ready` comes from a register, so that no
/// combinational path goes from tile to tile. Reset empties it. Drops nothing.
module link_fifo #(
    parameter int Depth = 4
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,
    stream_if.src out
);
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_bad_parameter
    $fatal(1, "link_fifo: Depth %0d is not a power of two", Depth);
  end
  localparam int PtrW = $clog2(Depth);

  mesh_pkg::word_t mem[Depth];
  logic [PtrW-1:0] write_q, read_q;
  logic empty_q, full_q;

  assign in.ready  = !full_q;
  assign out.valid = !empty_q;
  assign out.data  = mem[read_q];

  wire push = in.valid && in.ready;
  wire pop = out.valid && out.ready;
  wire [PtrW-1:0] write_d = write_q + 1'b1;
  wire [PtrW-1:0] read_d = read_q + 1'b1;

  always_ff @(posedge clk_i) begin
    if (push) begin
      mem[write_q] <= in.data;
      write_q <= write_d;
    end
    if (pop) read_q <= read_d;
    if (push != pop) begin
      full_q  <= push && write_d == read_q;
      empty_q <= pop && read_d == write_q;
    end
    if (rst_i) begin
      write_q <= '0;
      read_q  <= '0;
      empty_q <= 1'b1;
      full_q  <= 1'b0;
    end
  end

  `ASSERT(NotBoth, !(empty_q && full_q))
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The FIFO at the end of each link of the on-chip networks.
///
/// Holds `Depth` words (a power of two). Latency 1 clock, one word a clock; `in.ready` is a register, so that no
/// combinational path goes from tile to tile. Reset empties it. Drops nothing.
/// `room_o` is for a link_out at the other end, which registers it: it falls while there is still a place for the
/// word that may be on its way.
module link_fifo #(
    parameter int Depth = 4
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,
    stream_if.src out,
    output logic room_o
);
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_bad_parameter
    $fatal(1, "link_fifo: Depth %0d is not a power of two", Depth);
  end
  localparam int PtrW = $clog2(Depth);

  mesh_pkg::word_t mem[Depth];
  logic [PtrW-1:0] write_q, read_q;
  logic [PtrW:0] count_q, count_d;
  // What is known of the count, in registers of its own: those at both ends of a link decide by it whether a word moves.
  logic valid_q, ready_q, room_q;

  assign in.ready  = ready_q;
  assign room_o    = room_q;
  assign out.valid = valid_q;
  assign out.data  = mem[read_q];

  wire push = in.valid && ready_q;
  wire pop = valid_q && out.ready;
  assign count_d = count_q + (PtrW + 1)'(push) - (PtrW + 1)'(pop);

  always_ff @(posedge clk_i) begin
    if (`WORTH(push || pop || rst_i)) begin
      if (push) begin
        mem[write_q] <= in.data;
        write_q <= write_q + 1'b1;
      end
      if (pop) read_q <= read_q + 1'b1;
      count_q <= count_d;
      valid_q <= count_d != '0;
      ready_q <= count_d < (PtrW + 1)'(Depth);
      room_q  <= count_d < (PtrW + 1)'(Depth - 1);
      if (rst_i) begin
        write_q <= '0;
        read_q  <= '0;
        count_q <= '0;
        valid_q <= 1'b0;
        ready_q <= 1'b1;
        room_q  <= 1'b1;
      end
    end
  end

  `ASSERT(NeverOverfull, count_q <= (PtrW + 1)'(Depth))
  `ASSERT(AsCounted, valid_q == (count_q != '0) && ready_q == (count_q < (PtrW + 1)'(Depth)))
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Takes the interrupts out of what a dynamic network brings to a core.
///
/// An `Interrupt` message (mesh_pkg) is consumed and sets flag `src.exit` of the core for a clock: 0 another core, 1 ... 4 a
/// linecard beside its tile, by side. All other messages pass, combinational. An interrupt waits behind the words before it.
/// Paper: section 3.1 (the output linecard interrupts the tile).
module net_irq
  import mesh_pkg::*;
#(
    parameter int Flags = 8
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,
    input logic interrupt_i,  // a header in `in` is an interrupt's: known before the word
    stream_if.src out,
    output logic [Flags-1:0] irq_o
);
  header_t header;
  assign header = in.data;

  logic [4:0] left_q;  // words to come of the message under way
  logic interrupt_q;  // which is an interrupt
  wire starts = left_q == 0;
  wire interrupt = starts ? interrupt_i : interrupt_q;

  assign out.valid = in.valid && !interrupt;
  assign out.data  = in.data;
  assign in.ready  = interrupt || out.ready;

  wire moves = in.valid && in.ready;
  assign irq_o = moves && interrupt && starts ? Flags'(1) << header.src.exit : '0;

  always_ff @(posedge clk_i) begin
    if (moves) begin
      left_q <= starts ? header.len : left_q - 1'b1;
      interrupt_q <= interrupt;
    end
    if (rst_i) left_q <= '0;
  end

  `ASSERT(AsItsHeader, in.valid && starts |-> interrupt_i == (header.user == Interrupt))
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Takes the interrupts out of what a dynamic network brings to a core.
///
/// An `Interrupt` message (mesh_pkg) is consumed and sets flag `src.exit` of the core for a clock: 0 another core, 1 ... 4 a
/// linecard beside its tile, by side. All other messages pass, combinational. An interrupt waits behind the words before it.
/// `takes_o` and `ready_o` tell apart what `in.ready` follows from, for what knows sooner of each word it may offer whether it is an interrupt's header.
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
    output logic takes_o,  // a header of an interrupt whatever `ready_o` says
    output logic ready_o,  // any other word
    output logic [Flags-1:0] irq_o
);
  header_t header;
  assign header = in.data;

  logic [4:0] left_q;  // words to come of the message under way
  logic interrupt_q;  // which is an interrupt
  logic starts_q;  // there are none
  wire interrupt = starts_q ? interrupt_i : interrupt_q;

  assign out.valid = in.valid && !interrupt;
  assign out.data  = in.data;
  assign takes_o   = starts_q;
  assign ready_o   = out.ready || (!starts_q && interrupt_q);
  assign in.ready  = ready_o || (takes_o && interrupt_i);

  wire moves = in.valid && in.ready;
  assign irq_o = moves && interrupt && starts_q ? Flags'(1) << header.src.exit : '0;

  always_ff @(posedge clk_i) begin
    if (moves) begin
      left_q <= starts_q ? header.len : left_q - 1'b1;
      starts_q <= starts_q ? header.len == 5'd0 : left_q == 5'd1;
      interrupt_q <= interrupt;
    end
    if (rst_i) starts_q <= 1'b1;
  end

  `ASSERT(AsItsHeader, in.valid && starts_q |-> interrupt_i == (header.user == Interrupt))
endmodule

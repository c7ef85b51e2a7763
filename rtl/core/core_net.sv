// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// What arrives from the networks and waits to be read by the core, `NetDepth` words each.
///
/// A word is read (`take_i`) before it is certain that the instruction that reads it will come to its end: it goes when that
/// instruction is done (`done_i`, in the same order), and with `undo_i` whatever was read and is not done is there again, but
/// for `keep_i` (an instruction that will be done all the same). A word can be read in the clock after it came; one word a
/// clock, at most one of each network an instruction. `in_ready_o` comes from registers. Reset empties it.
/// Paper: tile-router, section 1.
module core_net
  import core_pkg::*;
(
    input  logic                               clk_i,
    input  logic                               rst_i,
    // from the switches
    input  logic [NetCount-1:0]                in_valid_i,
    input  logic [NetCount-1:0][         31:0] in_data_i,
    output logic [NetCount-1:0]                in_ready_o,
    // the core's ID: the next word of each
    output logic [NetCount-1:0]                some_o,
    output logic [NetCount-1:0][         31:0] word_o,
    output logic [NetCount-1:0][NetCountW-1:0] count_o,     // words not read yet
    input  logic [NetCount-1:0]                take_i,
    // its MEM
    input  logic [NetCount-1:0]                done_i,
    input  logic                               undo_i,
    input  logic [NetCount-1:0]                keep_i
);
  localparam int PtrW = $clog2(NetDepth);
  if (2 ** PtrW != NetDepth) begin : g_bad_parameter
    $fatal(1, "core_net: NetDepth %0d is not a power of two", NetDepth);
  end

  for (genvar n = 0; n < NetCount; n++) begin : g_net
    logic [31:0] words[NetDepth];
    // Words written, read, and done with, all modulo twice the depth.
    logic [PtrW:0] written_q, read_q, done_q;
    wire [PtrW:0] held = written_q - done_q;
    wire [PtrW:0] unread = written_q - read_q;
    assign in_ready_o[n] = held != (PtrW + 1)'(NetDepth);
    assign some_o[n] = unread != 0;
    assign count_o[n] = NetCountW'(unread);
    assign word_o[n] = words[read_q[PtrW-1:0]];

    always_ff @(posedge clk_i) begin
      if (in_valid_i[n] && in_ready_o[n]) begin
        words[written_q[PtrW-1:0]] <= in_data_i[n];
        written_q <= written_q + 1'b1;
      end
      if (done_i[n]) done_q <= done_q + 1'b1;
      if (undo_i) read_q <= done_q + (PtrW + 1)'(keep_i[n]);
      else if (take_i[n]) read_q <= read_q + 1'b1;
      if (rst_i) begin
        written_q <= '0;
        read_q <= '0;
        done_q <= '0;
      end
    end
    `ASSERT(ReadIsThere, take_i[n] && !undo_i |-> some_o[n])
    `ASSERT(DoneAfterRead, done_i[n] |-> done_q != read_q)
  end
endmodule

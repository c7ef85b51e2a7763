// SPDX-License-Identifier: Apache-2.0
/// Lets frames of 64-bit words through while `enable_i` is high when they begin; drops the others whole.
///
/// Combinational, one word a clock, back-pressure from `out`. `dropped_o` is high for one clock for each frame dropped.
module word_gate
  import eth_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         enable_i,
           stream_if.snk in,        // word_beat_t
           stream_if.src out,       // word_beat_t
    output logic         dropped_o
);
  logic pass_q, held_q;
  word_beat_t word;
  assign word = in.data;

  // Decided with the first clock of a frame; what is offered stays offered.
  wire pass = (word.sop && !held_q) ? enable_i : pass_q;
  assign out.valid = in.valid && pass;
  assign out.data  = in.data;
  assign in.ready  = out.ready || !pass;
  assign dropped_o = in.valid && !pass && word.eop;

  always_ff @(posedge clk_i) begin
    if (in.valid) pass_q <= pass;
    held_q <= in.valid && !in.ready;
    if (rst_i) held_q <= 1'b0;
  end
endmodule

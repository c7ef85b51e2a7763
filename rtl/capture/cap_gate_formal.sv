// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
`include "stream.svh"
/// cap_gate: what comes out is whole TLPs, each beat kept until it is taken, whenever the gate moves; TLPs that do not come
/// out vanish whole; nothing is swallowed while the gate is open and no swallowing had begun; closed, it is soon still.
module cap_gate_formal
  import pcie_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic closed_i,
    input logic valid_i,
    input logic eop_i,
    input logic mark_i,
    input logic ready_i
);
  `FORMAL_BEGIN
  `STREAM(tlp_beat_t, in)
  `STREAM(tlp_beat_t, out)
  cap_gate dut (
      .clk_i,
      .rst_i,
      .closed_i,
      .in,
      .out
  );
  // Sop follows from eop: a well-formed stream. The mark stands for all contents.
  logic inside_q = 1'b0;
  assign in.valid  = valid_i;
  assign in.data   = '{hdr: {127'd0, mark_i}, data: '0, sop: !inside_q, eop: eop_i};
  assign out.ready = ready_i;
  `FORMAL_STREAM(assume, in, tlp_beat_t)
  `FORMAL_STREAM(assert, out, tlp_beat_t)

  logic
      out_inside_q = 1'b0, swallowed_q = 1'b0;  // inside a TLP that comes out, or one that does not
  wire take = in.valid && in.ready;
  wire give = out.valid && out.ready;
  always_ff @(posedge clk_i) begin
    if (started_q && take) inside_q <= !eop_i;
    if (started_q && give) out_inside_q <= !out.data.eop;
    if (started_q && take && !give) swallowed_q <= !eop_i;
  end

  always_comb begin
    if (started_q) begin
      together : assert (!give || take);
      same : assert (!out.valid || out.data == in.data);
      whole : assert (!out.valid || out.data.sop == !out_inside_q);
      one_or_the_other :
      assert (!(out_inside_q && swallowed_q) && inside_q == (out_inside_q || swallowed_q));
      assert (dut.swallowing_q == swallowed_q);
      assert (!out_inside_q || dut.passing_q);
      assert (!dut.passing_q || !swallowed_q);
      open : assert (closed_i || swallowed_q || in.valid == out.valid);
      never_stuck : assert (!closed_i || dut.passing_q || in.ready);
      passes_on : cover (closed_i && give && out_inside_q && out.data.eop);
      swallows_on : cover (!closed_i && take && !give && eop_i && swallowed_q);
    end
  end
endmodule

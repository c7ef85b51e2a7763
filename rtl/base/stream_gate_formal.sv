// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
`include "stream.svh"
/// stream_gate: what comes out is whole packets, each beat kept until it is taken, whenever the gate moves; packets that do not
/// come out are dropped whole and told once; nothing is dropped while the gate is open and no drop had begun; closed, it is
/// soon still.
module stream_gate_formal (
    input logic clk_i,
    input logic rst_i,
    input logic closed_i,
    input logic valid_i,
    input logic eop_i,
    input logic mark_i,
    input logic ready_i
);
  `FORMAL_BEGIN
  typedef struct packed {
    logic mark;
    logic sop;
    logic eop;
  } beat_t;
  `STREAM(beat_t, in)
  `STREAM(beat_t, out)
  logic dropped;
  stream_gate #(
      .T(beat_t)
  ) dut (
      .clk_i,
      .rst_i,
      .closed_i,
      .in,
      .out,
      .dropped_o(dropped)
  );
  // Sop follows from eop: a well-formed stream. The mark stands for all contents.
  logic inside_q = 1'b0;
  assign in.valid  = valid_i;
  assign in.data   = '{mark: mark_i, sop: !inside_q, eop: eop_i};
  assign out.ready = ready_i;
  `FORMAL_STREAM(assume, in, beat_t)
  `FORMAL_STREAM(assert, out, beat_t)

  logic out_inside_q = 1'b0, drop_q = 1'b0;  // inside a packet that comes out, or one that does not
  wire  take = in.valid && in.ready;
  wire  give = out.valid && out.ready;
  logic waits_q = 1'b0;  // offered before, and not taken
  wire  fresh = in.valid && !inside_q && !waits_q;
  always_ff @(posedge clk_i) begin
    waits_q <= started_q && in.valid && !in.ready;
    if (started_q && take) inside_q <= !eop_i;
    if (started_q && give) out_inside_q <= !out.data.eop;
    if (started_q && take && !give) drop_q <= !eop_i;
  end

  always_comb begin
    if (started_q) begin
      together : assert (!give || take);
      same : assert (!out.valid || out.data == in.data);
      counted : assert (dropped == (take && !give && eop_i));
      whole : assert (!out.valid || out.data.sop == !out_inside_q);
      one_or_the_other : assert (!(out_inside_q && drop_q) && inside_q == (out_inside_q || drop_q));
      assert (dut.dropping_q == drop_q);
      assert (!out_inside_q || dut.passing_q);
      assert (!dut.passing_q || !drop_q);
      open : assert (closed_i || drop_q || in.valid == out.valid);
      closed : assert (!(closed_i && fresh && out.valid));
      never_stuck : assert (!closed_i || dut.passing_q || in.ready);
      passes_on : cover (closed_i && give && out_inside_q && out.data.eop);
      drops_on : cover (!closed_i && take && !give && eop_i && drop_q);
    end
  end
endmodule

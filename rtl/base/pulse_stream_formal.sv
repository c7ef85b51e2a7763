// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=8
`include "formal.svh"
`include "stream.svh"
/// pulse_stream: after a pulse a beat is offered until it is taken, a beat is never offered without a pulse since the last one was
/// taken, and a pulse in the clock of the taking is not lost.
module pulse_stream_formal (
    input logic clk_i,
    input logic rst_i,
    input logic pulse_i,
    input logic ready_i
);
  `FORMAL_BEGIN
  `STREAM(logic [15:0], out)
  assign out.ready = ready_i;
  pulse_stream dut (
      .clk_i,
      .rst_i,
      .pulse_i,
      .out
  );
  `FORMAL_STREAM(assert, out, logic [15:0])

  logic owed_q;
  always_ff @(posedge clk_i) begin
    owed_q <= pulse_i || (owed_q && !(out.valid && out.ready));
    if (rst_i) owed_q <= 1'b0;
  end
  always_comb begin
    if (started_q) begin
      one_for_what_came : assert (out.valid == owed_q);
      no_data : assert (out.data == '0);
      taken : cover (out.valid && ready_i && pulse_i);
    end
  end
endmodule

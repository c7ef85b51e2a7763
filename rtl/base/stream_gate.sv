// SPDX-License-Identifier: Apache-2.0
/// Lets packets pass, or drops them while `closed_i` is high: whole packets only.
///
/// A packet that has been offered or begun when the gate closes still passes; one whose drop has begun is dropped to its end.
/// `T` has a field `eop`. Combinational, one beat a clock, back-pressure from `out`. `dropped_o` is high for one clock for each
/// packet dropped. Reset begins with a new packet.
module stream_gate #(
    parameter type T = logic
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         closed_i,
           stream_if.snk in,        // T
           stream_if.src out,       // T
    output logic         dropped_o
);
  logic passing_q, dropping_q;
  T beat;
  assign beat = in.data;
  wire pass = passing_q || (!closed_i && !dropping_q);
  wire moves = in.valid && in.ready;

  assign out.valid = in.valid && pass;
  assign out.data  = beat;
  assign in.ready  = !pass || out.ready;
  assign dropped_o = in.valid && !pass && beat.eop;

  always_ff @(posedge clk_i) begin
    if (pass) passing_q <= moves ? !beat.eop : passing_q || in.valid;
    else if (moves) dropping_q <= !beat.eop;
    if (rst_i) begin
      passing_q  <= 1'b0;
      dropping_q <= 1'b0;
    end
  end
endmodule

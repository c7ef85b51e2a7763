// SPDX-License-Identifier: Apache-2.0
/// Lets TLPs pass, or swallows them while `closed_i` is high: whole TLPs only.
///
/// A TLP that has been offered or begun when the gate closes still passes; one whose swallowing has begun is swallowed to
/// its end. Combinational, one beat a clock.
module cap_gate
  import pcie_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic closed_i,
    stream_if.snk in,  // tlp_beat_t
    stream_if.src out  // tlp_beat_t
);
  logic passing_q, swallowing_q;
  tlp_beat_t beat;
  assign beat = in.data;
  wire pass = passing_q || (!closed_i && !swallowing_q);
  wire moves = in.valid && in.ready;

  assign out.valid = in.valid && pass;
  assign out.data  = beat;
  assign in.ready  = !pass || out.ready;

  always_ff @(posedge clk_i) begin
    if (pass) passing_q <= moves ? !beat.eop : passing_q || in.valid;
    else if (moves) swallowing_q <= !beat.eop;
    if (rst_i) begin
      passing_q <= 1'b0;
      swallowing_q <= 1'b0;
    end
  end
  wire unused = &{1'b0, beat.hdr, beat.data, beat.sop};
endmodule

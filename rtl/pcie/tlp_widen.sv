// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Beats of a received TLP side by side, two in one of twice the width: `in` tlp_beat_t, `out` wide_tlp_beat_t.
///
/// A beat is taken in every clock while `out` is taken, a wide one comes out with its second half or with the TLP's end; a TLP
/// begins a new one, its header stays with its first. No latency of its own; reset forgets a first half.
module tlp_widen
  import pcie_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,
    stream_if.src out
);
  logic half_q;  // the first half is here
  tlp_beat_t first_q, beat, first;
  assign beat  = in.data;
  assign first = half_q ? first_q : beat;
  wire whole = half_q || beat.eop;

  assign in.ready = out.ready || !whole;
  assign out.valid = in.valid && whole;
  assign out.data = '{
          hdr: first.hdr,
          data: {beat.data, first.data},
          sop: first.sop,
          eop: beat.eop
      };

  always_ff @(posedge clk_i) begin
    if (in.valid && in.ready) begin
      half_q <= !whole;
      if (!half_q) first_q <= beat;
    end
    if (rst_i) half_q <= 1'b0;
  end
endmodule

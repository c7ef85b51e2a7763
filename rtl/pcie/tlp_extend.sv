// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Packets of one 64-byte beat each as those of a wider stream. Combinational; with beats of the same width it is a wire.
module tlp_extend
  import pcie_pkg::*;
#(
    parameter type Beat = wide_tlp_beat_t
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk in,     // tlp_beat_t
          stream_if.src out     // Beat
);
  localparam int DataBits = $bits(Beat) - $bits(tlp_beat_t) + 8 * TlpBeatBytes;
  wire unused = &{1'b0, clk_i, rst_i};  // of the assertion

  assign out.valid = in.valid;
  assign out.data = '{
          hdr: in.data.hdr,
          data: DataBits'(in.data.data),
          sop: in.data.sop,
          eop: in.data.eop
      };
  assign in.ready = out.ready;

  `ASSERT(OneBeat, in.valid |-> in.data.sop && in.data.eop)
endmodule

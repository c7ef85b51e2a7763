// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Takes the host's writes to its windows out of its requests: lines of up to 64 bytes, as a CPU's write-combining buffer sends them.
///
/// Windows lie at `Base` and are `Size` bytes together (a power of two, `Base` a multiple of it; addresses modulo 2^AddrW).
/// A write there of one to four whole pieces of 16 bytes that begins on a multiple of 64 comes out at `line_o` a clock later;
/// any other, and a poisoned one, is dropped: `dropped_o` is high a clock. All other requests, reads of a window among them,
/// pass to `other` at once and in order. One beat a clock. Reset drops the packet under way.
module window_lines
  import pcie_pkg::*;
#(
    parameter int AddrW = 27,
    parameter logic [AddrW-1:0] Base = '0,
    parameter logic [AddrW-1:0] Size = '0
) (
    input  logic         clk_i,
    input  logic         rst_i,
           stream_if.snk in,        // tlp_beat_t
           stream_if.src other,     // tlp_beat_t
    output line_write_t  line_o,
    output logic         dropped_o
);
  if ($countones(Size) != 1 || (Base & (Size - 1'b1)) != '0) begin : g_bad_parameter
    $fatal(1, "window_lines: windows at %h, size %h", Base, Size);
  end

  tlp_beat_t beat;
  assign beat = in.data;
  wire mem4_hdr_t hdr = beat.hdr;
  wire [39:0] addr = hdr.dw0.fmt_type[5] ? hdr.addr[39:0] : {8'd0, hdr.addr[63:32]};
  wire [AddrW-1:0] offset = addr[AddrW-1:0] & (Size - 1'b1);
  wire in_window = hdr.dw0.fmt_type[6] && (addr[AddrW-1:0] & ~(Size - 1'b1)) == Base;
  wire whole = beat.eop && hdr.dw0.length inside {10'd4, 10'd8, 10'd12, 10'd16} && addr[5:2] == '0 &&
      hdr.first_be == 4'hf && hdr.last_be == 4'hf && !hdr.dw0.ep;
  wire unused = &{1'b0, hdr, addr};

  // The first beat says where all beats of its packet go.
  logic inside_q, here, here_q;
  assign here = beat.sop ? in_window : here_q;
  assign other.valid = in.valid && !here;
  assign other.data = beat;
  assign in.ready = here || other.ready;

  always_ff @(posedge clk_i) begin
    if (in.valid && in.ready) begin
      here_q   <= here;
      inside_q <= !beat.eop;
    end
    line_o.valid  <= in.valid && beat.sop && in_window && whole;
    line_o.line   <= 26'(offset >> 6);
    line_o.pieces <= hdr.dw0.length[4:2];
    line_o.data   <= beat.data;
    dropped_o     <= in.valid && here && beat.eop && !(beat.sop && whole);
    if (rst_i) begin
      here_q <= 1'b1;
      inside_q <= 1'b0;
      line_o.valid <= 1'b0;
      dropped_o <= 1'b0;
    end
  end

  `ASSERT(PacketsBegin, in.valid && !inside_q |-> beat.sop)
endmodule

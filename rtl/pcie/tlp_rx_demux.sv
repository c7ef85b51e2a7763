// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Sorts received TLPs: completions to the DMA read engine, memory requests to the completer.
///
/// Completions pass through at once, one beat a clock. Memory requests go through a FIFO of `ReqDepth` beats, so that a
/// completer that is busy, or waits for credits, does not hold up completions (PCI Express ordering rules want
/// completions to pass) as long as the host has no more beats of requests outstanding than that. All other TLPs (I/O,
/// configuration, locked, messages: the hard block answers those it must) are dropped and counted. Of requests in wider beats
/// only the first 64 bytes of each are passed on. Reset empties the FIFO; so does that of the device behind it alone, `device_rst_i`, in
/// which requests are dropped, with all that comes later of one that has begun.
module tlp_rx_demux
  import pcie_pkg::*;
#(
    parameter type Beat = tlp_beat_t,  // or wide_tlp_beat_t
    parameter int ReqDepth = 32
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         device_rst_i,  // and whenever rst_i is high
           stream_if.snk in,            // Beat
           stream_if.src cpl,           // Beat
           stream_if.src req,           // tlp_beat_t
    output logic         dropped_o      // one clock a TLP dropped
);
  typedef enum logic [1:0] {
    ToNone,
    ToCpl,
    ToReq
  } route_e;

  Beat beat;
  assign beat = in.data;

  // The first beat says where all beats of its TLP go.
  route_e route, first_route, rest_route, route_q;
  always_comb begin
    unique case (beat.hdr[127:120])
      Cpl, CplD: first_route = ToCpl;
      MRd3, MRd4, MWr3, MWr4: first_route = device_rst_i ? ToNone : ToReq;
      default: first_route = ToNone;
    endcase
  end
  assign rest_route = device_rst_i && route_q == ToReq ? ToNone : route_q;
  assign route = beat.sop ? first_route : rest_route;

  `STREAM_ON(tlp_beat_t, queue_in, clk_i, device_rst_i)
  fifo #(
      .T(tlp_beat_t),
      .Depth(ReqDepth)
  ) i_requests (
      .clk_i,
      .rst_i(device_rst_i),
      .in(queue_in),
      .out(req),
      .count_o()
  );

  assign cpl.valid = in.valid && route == ToCpl;
  assign cpl.data = beat;
  assign queue_in.valid = in.valid && route == ToReq;
  assign queue_in.data = '{
          hdr: beat.hdr,
          data: beat.data[8*TlpBeatBytes-1:0],
          sop: beat.sop,
          eop: beat.eop
      };

  always_comb begin
    unique case (route)
      ToCpl:   in.ready = cpl.ready;
      ToReq:   in.ready = queue_in.ready;
      default: in.ready = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    route_q <= in.valid && in.ready ? route : rest_route;
    if (rst_i) route_q <= ToNone;
  end
  assign dropped_o = in.valid && beat.eop && route == ToNone;
endmodule

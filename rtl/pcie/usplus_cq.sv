// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The host's memory requests from the CQ interface of the UltraScale+ block, one TLP a beat (straddle off).
///
/// Addresses are the bus's, as in TLPs; with `Functions` those of a virtual function's aperture (`ApertureW` bits), and above them the
/// function that the block says it is for. Requests of other kinds (I/O, atomic operations, messages) come out as I/O reads, which
/// no block takes: they are counted where such are. Latency 3 clocks, one beat a clock, full back-pressure. Reset drops what is held.
module usplus_cq
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter int Functions = 1,
    parameter int ApertureW = 24
) (
    input logic clk_i,
    input logic rst_i,

    input  logic             tvalid_i,
    input  logic     [511:0] tdata_i,
    input  cq_user_t         tuser_i,
    output logic             tready_o,

    stream_if.src req  // tlp_beat_t
);
  localparam logic [7:0] IoRead = 8'h02;
  `STREAM(usplus_beat_t, pins)
  `STREAM(usplus_beat_t, beat)
  `STREAM(usplus_rx_t, tlp)
  assign pins.valid = tvalid_i;
  `STREAM_DATA(pins, '{sop_at: 4'(tuser_i.sop[0]), last_be: tuser_i.last_be[0],
                     first_be: tuser_i.first_be[0], data: tdata_i})
  assign tready_o = pins.ready;
  wire unused = &{1'b0, tuser_i};
  `SPILL(usplus_beat_t, i_pins, pins, beat)
  usplus_unpack #(
      .Requests(1'b1)
  ) i_unpack (
      .clk_i,
      .rst_i,
      .in (beat),
      .out(tlp)
  );

  wire cq_desc_t desc = tlp.data.desc;
  wire unused_desc = &{1'b0, desc};
  logic [63:0] addr;
  if (Functions > 1) begin : g_functions
    assign addr = 64'({routed_to(desc.target_function), ApertureW'({desc.addr, 2'd0})});
  end else begin : g_one_function
    assign addr = {desc.addr, 2'd0};
  end
  wire wide = addr[63:32] != '0;
  logic [7:0] fmt_type;
  always_comb begin
    unique case (desc.req_type)
      UsMemRead:  fmt_type = wide ? MRd4 : MRd3;
      UsMemWrite: fmt_type = wide ? MWr4 : MWr3;
      default:    fmt_type = IoRead;
    endcase
  end
  tlp_dw0_t  dw0;
  mem4_hdr_t hdr;
  assign dw0 = '{
          fmt_type: fmt_type,
          tc: desc.tc,
          attr_ido: desc.attr[2],
          attr_ro: desc.attr[1],
          attr_ns: desc.attr[0],
          at: desc.at,
          length: desc.dword_count[9:0],
          default: '0
      };
  assign hdr = '{
          dw0: dw0,
          requester_id: desc.requester_id,
          tag: desc.tag,
          last_be: tlp.data.last_be,
          first_be: tlp.data.first_be,
          addr: wide ? addr : {addr[31:0], 32'd0}
      };
  assign req.valid = tlp.valid;
  `STREAM_DATA(req, '{sop: tlp.data.sop, eop: tlp.data.eop, hdr: hdr, data: tlp.data.data})
  assign tlp.ready = req.ready;
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The pins of the hard block that a device is built for (`Interface`): Emery's own, of no block there is, or those of an
/// UltraScale+ one with straddle or without (usplus_pcie).
///
/// Wiring only. The pins that are not used are driven zero, and what is on them is ignored. Where `Received` is wider than what
/// an UltraScale+ block gives, received TLPs are widened, a clock later.
module pcie_pins
  import pcie_pkg::*;
  import pins_pkg::*;
#(
    parameter type Sent      = tlp_beat_t,  // of pcie_endpoint
    parameter type Received  = tlp_beat_t,  // likewise
    parameter int  Interface = PinsIdeal,   // PinsIdeal, PinsUsPlus, PinsUsPlusPlain
    parameter int  Lines     = 256          // of usplus_pcie
) (
    input logic clk_i,
    input logic rst_i,

    // Pins.
    input  pcie_pins_in_t  pins_i,
    output pcie_pins_out_t pins_o,

    // To pcie_endpoint.
    output pcie_in_t  block_o,
    input  pcie_out_t block_i
);
  if (Interface < PinsIdeal || Interface > PinsUsPlusPlain) begin : g_bad_parameter
    $fatal(1, "pcie_pins: there is no Interface %0d", Interface);
  end
  if (Interface != PinsIdeal) begin : g_usplus
    pcie_in_t narrow_in;
    pcie_out_t narrow_out;
    usplus_pkg::usplus_out_t usplus;
    usplus_pcie #(
        .Sent(Sent),
        .Straddle(Interface == PinsUsPlus),
        .Lines(Lines)
    ) i_usplus (
        .clk_i,
        .rst_i,
        .usplus_i(pins_i.usplus),
        .usplus_o(usplus),
        .pins_o  (narrow_in),
        .pins_i  (narrow_out)
    );
    if ($bits(Received) == $bits(tlp_beat_t)) begin : g_narrow
      assign block_o = narrow_in;
      assign narrow_out = block_i;
    end else begin : g_wide
      `STREAM(tlp_beat_t, narrow)
      `STREAM(tlp_beat_t, held)
      `STREAM(wide_tlp_beat_t, wide)
      assign narrow.valid = narrow_in.rx_valid;
      assign narrow.data = '{
              hdr: narrow_in.rx_hdr,
              data: narrow_in.rx_data[8*TlpBeatBytes-1:0],
              sop: narrow_in.rx_sop,
              eop: narrow_in.rx_eop
          };
      `SPILL(tlp_beat_t, i_rx, narrow, held)
      tlp_widen i_widen (
          .clk_i,
          .rst_i,
          .in (held),
          .out(wide)
      );
      assign wide.ready = block_i.rx_ready;
      always_comb begin
        block_o = narrow_in;
        block_o.rx_valid = wide.valid;
        block_o.rx_hdr = wide.data.hdr;
        block_o.rx_data = wide.data.data;
        block_o.rx_sop = wide.data.sop;
        block_o.rx_eop = wide.data.eop;
        narrow_out = block_i;
        narrow_out.rx_ready = narrow.ready;
      end
    end
    assign pins_o = '{ideal: '{default: '0}, usplus: usplus};
    wire unused = &{1'b0, pins_i.ideal.link_up};
  end else begin : g_ideal
    assign block_o = pins_i.ideal;
    assign pins_o  = '{ideal: block_i, usplus: '{default: '0}};
    wire unused = &{1'b0, clk_i, rst_i, pins_i.usplus.lnk_up};
  end
endmodule

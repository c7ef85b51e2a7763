// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The pins of the hard block that a device is built for (`Interface`): Emery's own, of no block there is, or those of an
/// UltraScale+ one with straddle or without (usplus_pcie).
///
/// Wiring only. The pins that are not used are driven zero, and what is on them is ignored. Where `Received` is wider than what
/// an UltraScale+ block gives, received TLPs are widened, a clock later.
module pcie_pins
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter type Sent      = tlp_beat_t,  // of pcie_endpoint
    parameter type Received  = tlp_beat_t,  // likewise
    parameter int  Interface = PinsIdeal,   // PinsIdeal, PinsUsPlus, PinsUsPlusPlain
    parameter int  Lines     = 256          // of usplus_pcie
) (
    input logic clk_i,
    input logic rst_i,

    // Pins.
    input  pcie_in_t    pcie_i,
    output pcie_out_t   pcie_o,
    input  usplus_in_t  usplus_i,
    output usplus_out_t usplus_o,

    // To pcie_endpoint.
    output pcie_in_t  pins_o,
    input  pcie_out_t pins_i
);
  if (Interface < PinsIdeal || Interface > PinsUsPlusPlain) begin : g_bad_parameter
    $fatal(1, "pcie_pins: there is no Interface %0d", Interface);
  end
  if (Interface != PinsIdeal) begin : g_usplus
    pcie_in_t  block_in;
    pcie_out_t block_out;
    usplus_pcie #(
        .Sent(Sent),
        .Straddle(Interface == PinsUsPlus),
        .Lines(Lines)
    ) i_usplus (
        .clk_i,
        .rst_i,
        .usplus_i,
        .usplus_o,
        .pins_o(block_in),
        .pins_i(block_out)
    );
    if ($bits(Received) == $bits(tlp_beat_t)) begin : g_narrow
      assign pins_o = block_in;
      assign block_out = pins_i;
    end else begin : g_wide
      `STREAM(tlp_beat_t, narrow)
      `STREAM(tlp_beat_t, held)
      `STREAM(wide_tlp_beat_t, wide)
      assign narrow.valid = block_in.rx_valid;
      assign narrow.data = '{
              hdr: block_in.rx_hdr,
              data: block_in.rx_data[8*TlpBeatBytes-1:0],
              sop: block_in.rx_sop,
              eop: block_in.rx_eop
          };
      `SPILL(tlp_beat_t, i_rx, narrow, held)
      tlp_widen i_widen (
          .clk_i,
          .rst_i,
          .in (held),
          .out(wide)
      );
      assign wide.ready = pins_i.rx_ready;
      always_comb begin
        pins_o = block_in;
        pins_o.rx_valid = wide.valid;
        pins_o.rx_hdr = wide.data.hdr;
        pins_o.rx_data = wide.data.data;
        pins_o.rx_sop = wide.data.sop;
        pins_o.rx_eop = wide.data.eop;
        block_out = pins_i;
        block_out.rx_ready = narrow.ready;
      end
    end
    assign pcie_o = '{default: '0};
    wire unused = &{1'b0, pcie_i.link_up};
  end else begin : g_ideal
    assign pins_o   = pcie_i;
    assign pcie_o   = pins_i;
    assign usplus_o = '{default: '0};
    wire unused = &{1'b0, clk_i, rst_i, usplus_i.lnk_up};
  end
endmodule

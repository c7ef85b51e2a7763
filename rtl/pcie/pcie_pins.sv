// SPDX-License-Identifier: Apache-2.0
/// The pins of the hard block that a device is built for (`Interface`): Emery's own, of no block there is, or those of an
/// UltraScale+ one with straddle or without (usplus_pcie).
///
/// Wiring only. The pins that are not used are driven zero, and what is on them is ignored.
module pcie_pins
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter type Sent      = tlp_beat_t,  // of pcie_endpoint
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
    usplus_pcie #(
        .Sent(Sent),
        .Straddle(Interface == PinsUsPlus),
        .Lines(Lines)
    ) i_usplus (
        .clk_i,
        .rst_i,
        .usplus_i,
        .usplus_o,
        .pins_o,
        .pins_i
    );
    assign pcie_o = '{default: '0};
    wire unused = &{1'b0, pcie_i.link_up};
  end else begin : g_ideal
    assign pins_o   = pcie_i;
    assign pcie_o   = pins_i;
    assign usplus_o = '{default: '0};
    wire unused = &{1'b0, clk_i, rst_i, usplus_i.lnk_up};
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// The pins of the hard block that a device is built for (`Interface`): Emery's own, of no block there is, those of an
/// UltraScale+ one with straddle or without (usplus_pcie), or those of Intel P-tile (ptile_pcie).
///
/// Wiring only. What is received comes with `block_o`; of an UltraScale+ block only completions do, and requests with `req`, on
/// which the others have nothing. The pins that are not used are driven zero, and what is on them is ignored.
module pcie_pins
  import pcie_pkg::*;
  import pins_pkg::*;
#(
    parameter type Sent      = tlp_beat_t,  // of pcie_endpoint
    parameter type Received  = tlp_beat_t,  // likewise
    parameter int  Interface = PinsIdeal,   // PinsIdeal, PinsUsPlus, PinsUsPlusPlain, PinsPTile
    parameter int  Lines     = 256          // of usplus_pcie
) (
    input logic clk_i,
    input logic rst_i,

    // Pins.
    input  pcie_pins_in_t  pins_i,
    output pcie_pins_out_t pins_o,

    // To pcie_endpoint.
    output pcie_in_t     block_o,
    input  pcie_out_t    block_i,
           stream_if.src req       // tlp_beat_t
);
  if (Interface < PinsIdeal || Interface > PinsPTile) begin : g_bad_parameter
    $fatal(1, "pcie_pins: there is no Interface %0d", Interface);
  end
  if (Interface == PinsPTile) begin : g_ptile
    ptile_pkg::ptile_out_t ptile;
    ptile_pcie #(
        .Sent(Sent),
        .Received(Received)
    ) i_ptile (
        .clk_i,
        .rst_i,
        .ptile_i(pins_i.ptile),
        .ptile_o(ptile),
        .pins_o (block_o),
        .pins_i (block_i)
    );
    assign pins_o = '{ideal: '{default: '0}, usplus: '{default: '0}, ptile: ptile};
    assign req.valid = 1'b0;
    assign req.data = '0;
    wire unused = &{1'b0, req.ready, pins_i.ideal.link_up, pins_i.usplus.lnk_up};
  end else if (Interface != PinsIdeal) begin : g_usplus
    usplus_pkg::usplus_out_t usplus;
    usplus_pcie #(
        .Sent(Sent),
        .Received(Received),
        .Straddle(Interface == PinsUsPlus),
        .Lines(Lines)
    ) i_usplus (
        .clk_i,
        .rst_i,
        .usplus_i(pins_i.usplus),
        .usplus_o(usplus),
        .pins_o  (block_o),
        .pins_i  (block_i),
        .req
    );
    assign pins_o = '{ideal: '{default: '0}, usplus: usplus, ptile: '{default: '0}};
    wire unused = &{1'b0, pins_i.ideal.link_up, pins_i.ptile.dl_up};
  end else begin : g_ideal
    assign block_o = pins_i.ideal;
    assign pins_o = '{ideal: block_i, usplus: '{default: '0}, ptile: '{default: '0}};
    assign req.valid = 1'b0;
    assign req.data = '0;
    wire unused = &{1'b0, clk_i, rst_i, req.ready, pins_i.usplus.lnk_up, pins_i.ptile.dl_up};
  end
endmodule

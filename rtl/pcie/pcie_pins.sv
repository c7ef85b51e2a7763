// SPDX-License-Identifier: Apache-2.0
/// The pins of the hard block that a device is built for (`Interface`): Emery's own, of no block there is, those of an
/// UltraScale+ one with straddle or without (usplus_pcie), or those of Intel P-tile (ptile_pcie).
///
/// Wiring only. What is received comes with `rx`; of an UltraScale+ block only completions do, and requests with `req`, on
/// which the others have nothing. The pins that are not used are driven zero, and what is on them is ignored.
module pcie_pins
  import pcie_pkg::*;
  import pins_pkg::*;
#(
    parameter type Sent      = tlp_beat_t,  // of pcie_endpoint
    parameter type Received  = tlp_beat_t,  // likewise
    parameter int  Interface = PinsIdeal,   // PinsIdeal, PinsUsPlus, PinsUsPlusPlain, PinsPTile
    parameter int  Lines     = 256,         // of usplus_pcie
    parameter int  Functions = 1,           // with virtual ones: usplus_pcie alone
    parameter int  ApertureW = 24           // of the virtual ones
) (
    input logic clk_i,
    input logic rst_i,

    // Pins.
    input  pcie_pins_in_t  pins_i,
    output pcie_pins_out_t pins_o,

    // To pcie_endpoint.
    output block_state_t   state_o,
    input  logic           function_reset_done_i,
    input  function_done_t virtual_done_i,
           stream_if.src   rx,                     // Received
           stream_if.src   req,                    // tlp_beat_t
           stream_if.snk   tx,                     // Sent
           stream_if.snk   read                    // mem4_hdr_t
);
  if (Interface < PinsIdeal || Interface > PinsPTile) begin : g_bad_parameter
    $fatal(1, "pcie_pins: there is no Interface %0d", Interface);
  end
  if (Functions > 1 && !(Interface inside {PinsUsPlus, PinsUsPlusPlain})) begin : g_no_functions
    $fatal(1, "pcie_pins: Interface %0d does not tell virtual functions apart", Interface);
  end
  if (Interface == PinsPTile) begin : g_ptile
    ptile_pcie #(
        .Sent(Sent),
        .Received(Received)
    ) i_ptile (
        .clk_i,
        .rst_i,
        .ptile_i(pins_i.ptile),
        .ptile_o(pins_o.ptile),
        .state_o,
        .function_reset_done_i,
        .rx,
        .tx,
        .read
    );
    assign pins_o.ideal = '{default: '0};
    assign pins_o.usplus = '{default: '0};
    assign req.valid = 1'b0;
    assign req.data = '0;
    wire unused = &{1'b0, req.ready, pins_i.ideal.link_up, pins_i.usplus.lnk_up, virtual_done_i};
  end else if (Interface != PinsIdeal) begin : g_usplus
    usplus_pcie #(
        .Sent(Sent),
        .Received(Received),
        .Straddle(Interface == PinsUsPlus),
        .Lines(Lines),
        .Functions(Functions),
        .ApertureW(ApertureW)
    ) i_usplus (
        .clk_i,
        .rst_i,
        .usplus_i(pins_i.usplus),
        .usplus_o(pins_o.usplus),
        .state_o,
        .function_reset_done_i,
        .virtual_done_i,
        .rx,
        .req,
        .tx,
        .read
    );
    assign pins_o.ideal = '{default: '0};
    assign pins_o.ptile = '{default: '0};
    wire unused = &{1'b0, pins_i.ideal.link_up, pins_i.ptile.dl_up};
  end else begin : g_ideal
    localparam int ReceivedBits = $bits(Received) - $bits(tlp_beat_t) + 8 * TlpBeatBytes;
    assign state_o = '{
            link_up: pins_i.ideal.link_up,
            function_reset: pins_i.ideal.function_reset,
            cfg: '{
                requester_id: pins_i.ideal.requester_id,
                max_payload: pins_i.ideal.max_payload,
                max_read_request: pins_i.ideal.max_read_request,
                bus_master: pins_i.ideal.bus_master,
                extended_tag: pins_i.ideal.extended_tag,
                wide_tag: pins_i.ideal.wide_tag,
                relaxed_ordering: pins_i.ideal.relaxed_ordering,
                msix_enable: pins_i.ideal.msix_enable,
                msix_mask: pins_i.ideal.msix_mask,
                functions: '0
            },
            fc: '{
                ph: pins_i.ideal.ph,
                pd: pins_i.ideal.pd,
                p_inf: pins_i.ideal.p_inf,
                nph: pins_i.ideal.nph,
                np_inf: pins_i.ideal.np_inf,
                cplh: pins_i.ideal.cplh,
                cpld: pins_i.ideal.cpld,
                cpl_inf: pins_i.ideal.cpl_inf
            }
        };
    assign rx.valid = pins_i.ideal.rx_valid;
    assign rx.data = '{
            sop: pins_i.ideal.rx_sop,
            eop: pins_i.ideal.rx_eop,
            hdr: pins_i.ideal.rx_hdr,
            data: pins_i.ideal.rx_data[ReceivedBits-1:0]
        };
    assign tx.ready = pins_i.ideal.tx_ready;
    assign read.ready = pins_i.ideal.read_ready;
    assign pins_o.ideal = '{
            rx_ready: rx.ready,
            tx_valid: tx.valid,
            tx_hdr: tx.data.hdr,
            tx_data: $bits(pins_o.ideal.tx_data)'(tx.data.data),
            tx_sop: tx.data.sop,
            tx_eop: tx.data.eop,
            read_valid: read.valid,
            read_hdr: read.data,
            function_reset_done: function_reset_done_i
        };
    assign pins_o.usplus = '{default: '0};
    assign pins_o.ptile = '{default: '0};
    assign req.valid = 1'b0;
    assign req.data = '0;
    wire unused = &{
      1'b0, clk_i, rst_i, req.ready, pins_i.usplus.lnk_up, pins_i.ptile.dl_up, virtual_done_i
    };
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// The MAC side of RGMII (version 2.0) at 1 Gb/s: byte streams without preamble and FCS, and what the pins have at both edges.
///
/// `rx_ctl_i[0]` and `rx_data_i[0]` are the pins as the rising edge of the receive clock found them, `[1]` as the falling one did,
/// half a clock later; so do the outputs go to the pins. The registers at both edges are the board's (a vendor's primitive each);
/// both directions are on one clock. Preamble, FCS and gap: gmii_rx, gmii_tx. 10 and 100 Mb/s are not there: what comes then is
/// no frame. The PHY's status between frames is not looked at.
module rgmii
  import gmii_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    // Pins, by edge.
    input  logic [1:0]      rx_ctl_i,
    input  logic [1:0][3:0] rx_data_i,
    output logic [1:0]      tx_ctl_o,
    output logic [1:0][3:0] tx_data_o,

    // Frames.
    output eth_pkg::byte_pins_t rx_o,
    input  eth_pkg::byte_pins_t tx_i,
    output logic                tx_ready_o
);
  gmii_t rx, tx;
  eth_pkg::byte_beat_t rx_byte, tx_byte;
  logic rx_valid;
  assign rx = '{valid: rx_ctl_i[0], err: ^rx_ctl_i, data: rx_data_i};
  assign tx_ctl_o = {tx.valid ^ tx.err, tx.valid};
  assign tx_data_o = tx.data;
  assign rx_o = '{
          valid: rx_valid,
          data: rx_byte.data,
          sop: rx_byte.sop,
          eop: rx_byte.eop,
          err: rx_byte.err
      };
  assign tx_byte = '{data: tx_i.data, sop: tx_i.sop, eop: tx_i.eop, err: tx_i.err};
  gmii_rx i_rx (
      .clk_i,
      .rst_i,
      .gmii_i(rx),
      .byte_valid_o(rx_valid),
      .byte_o(rx_byte)
  );
  gmii_tx i_tx (
      .clk_i,
      .rst_i,
      .byte_valid_i(tx_i.valid),
      .byte_ready_o(tx_ready_o),
      .byte_i(tx_byte),
      .gmii_o(tx)
  );
endmodule

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
    output logic                rx_valid_o,
    output eth_pkg::byte_beat_t rx_o,
    input  logic                tx_valid_i,
    input  eth_pkg::byte_beat_t tx_i,
    output logic                tx_ready_o
);
  gmii_t rx, tx;
  assign rx = '{valid: rx_ctl_i[0], err: ^rx_ctl_i, data: rx_data_i};
  assign tx_ctl_o = {tx.valid ^ tx.err, tx.valid};
  assign tx_data_o = tx.data;
  gmii_rx i_rx (
      .clk_i,
      .rst_i,
      .gmii_i(rx),
      .byte_valid_o(rx_valid_o),
      .byte_o(rx_o)
  );
  gmii_tx i_tx (
      .clk_i,
      .rst_i,
      .byte_valid_i(tx_valid_i),
      .byte_ready_o(tx_ready_o),
      .byte_i(tx_i),
      .gmii_o(tx)
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Sends back what it receives: a FIFO between the two sides of a MAC stream (`eth_pkg::byte_beat_t`).
///
/// Latency 2 clocks, one beat a clock. Both sides have one line rate, so the FIFO never fills; a beat that finds it full is
/// dropped.
module loop_card #(
    parameter int Depth = 16
) (
    input logic clk_i,
    input logic rst_i,

    // From the MAC: no back-pressure.
    input logic mac_rx_valid_i,
    input logic [7:0] mac_rx_data_i,
    input logic mac_rx_sop_i,
    input logic mac_rx_eop_i,
    input logic mac_rx_err_i,

    // To the MAC.
    output logic mac_tx_valid_o,
    input logic mac_tx_ready_i,
    output logic [7:0] mac_tx_data_o,
    output logic mac_tx_sop_o,
    output logic mac_tx_eop_o,
    output logic mac_tx_err_o
);
  `STREAM(eth_pkg::byte_beat_t, received)
  `STREAM(eth_pkg::byte_beat_t, sent)

  assign received.valid = mac_rx_valid_i;
  assign received.data = {mac_rx_data_i, mac_rx_sop_i, mac_rx_eop_i, mac_rx_err_i};
  assign mac_tx_valid_o = sent.valid;
  assign sent.ready = mac_tx_ready_i;
  assign {mac_tx_data_o, mac_tx_sop_o, mac_tx_eop_o, mac_tx_err_o} = sent.data;

  `FIFO(eth_pkg::byte_beat_t, Depth, i_buffer, received, sent)
endmodule

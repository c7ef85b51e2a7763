// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// direct_mac: a direct-router card's side to its 1G MAC: frames as words in the card's clock, bytes in the MAC's.
///
/// Wiring only. Received frames go through byte_pack and mac_rx, sent ones through mac_tx and byte_unpack. Receive cannot wait.
module direct_mac
  import eth_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    // Register of the longest frame, and what it is kept in (reg_range).
    input logic [31:0] max_frame_i,
    output logic [31:0] max_frame_o,
    output logic max_frame_refused_o,
    stream_if.src rx,  // word_beat_t
    output mac_rx_count_t count_o,
    stream_if.snk tx,  // word_beat_t

    // MAC side.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    input  byte_pins_t mac_rx_i,
    output byte_pins_t mac_tx_o,
    input  logic       mac_tx_ready_i
);
  logic [31:0] max_frame;
  wire unused_max = &{1'b0, max_frame[31:14]};
  reg_range #(
      .Least(32'd60),
      .Most (32'd9216)
  ) i_max_frame (
      .clk_i,
      .value_i(max_frame_i),
      .hold_i(1'b0),
      .next_o(max_frame_o),
      .refused_o(max_frame_refused_o),
      .setting_o(max_frame)
  );
  logic rx_word_valid, tx_word_valid, tx_word_ready;
  word_beat_t rx_word, tx_word;
  `STREAM(ptp_time_t, no_rx_stamp)
  `STREAM(ptp_time_t, no_tx_stamp)
  assign no_rx_stamp.ready = 1'b1;
  assign no_tx_stamp.ready = 1'b1;
  byte_beat_t rx_byte, tx_byte;
  assign rx_byte = '{
          data: mac_rx_i.data,
          sop: mac_rx_i.sop,
          eop: mac_rx_i.eop,
          err: mac_rx_i.err
      };
  assign mac_tx_o.data = tx_byte.data;
  assign mac_tx_o.sop = tx_byte.sop;
  assign mac_tx_o.eop = tx_byte.eop;
  assign mac_tx_o.err = tx_byte.err;

  byte_pack i_pack (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .byte_valid_i(mac_rx_i.valid),
      .byte_i(rx_byte),
      .word_valid_o(rx_word_valid),
      .word_o(rx_word)
  );
  mac_rx #(
      .Beat(word_beat_t),
      .StampDepth(0)
  ) i_mac_rx (
      .mac_clk_i,
      .mac_rst_i,
      .rx_valid_i(rx_word_valid),
      .rx_i(rx_word),
      .time_i('0),
      .clk_i,
      .rst_i,
      .max_frame_i(max_frame[13:0]),
      .frame(rx),
      .stamp(no_rx_stamp),
      .count_o
  );
  mac_tx #(
      .Beat(word_beat_t),
      .Depth(256),
      .StartBeats(200),
      .StampDepth(0)
  ) i_mac_tx (
      .clk_i,
      .rst_i,
      .frame(tx),
      .stamp(no_tx_stamp),
      .mac_clk_i,
      .mac_rst_i,
      .time_i('0),
      .tx_valid_o(tx_word_valid),
      .tx_ready_i(tx_word_ready),
      .tx_o(tx_word)
  );
  byte_unpack i_unpack (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .word_valid_i(tx_word_valid),
      .word_ready_o(tx_word_ready),
      .word_i(tx_word),
      .byte_valid_o(mac_tx_o.valid),
      .byte_ready_i(mac_tx_ready_i),
      .byte_o(tx_byte)
  );
endmodule

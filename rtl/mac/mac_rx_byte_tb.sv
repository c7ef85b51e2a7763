// SPDX-License-Identifier: Apache-2.0
/// mac_rx_tb with the stream of a 1G MAC, through byte_pack.
module mac_rx_byte_tb;
  mac_rx_tb #(.Beat(eth_pkg::word_beat_t)) i_tb ();
endmodule

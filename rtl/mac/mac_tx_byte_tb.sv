// SPDX-License-Identifier: Apache-2.0
// suite: once
/// mac_tx_tb with the stream of a 1G MAC, through byte_unpack.
module mac_tx_byte_tb;
  mac_tx_tb #(.Beat(eth_pkg::word_beat_t)) i_tb ();
endmodule

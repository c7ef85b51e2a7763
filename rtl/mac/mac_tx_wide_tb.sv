// SPDX-License-Identifier: Apache-2.0
/// mac_tx_tb with a core of twice the MAC's width.
module mac_tx_wide_tb;
  mac_tx_tb #(.Wide(eth_pkg::wide_beat_t)) i_tb ();
endmodule

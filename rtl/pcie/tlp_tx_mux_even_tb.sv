// SPDX-License-Identifier: Apache-2.0
// suite: once
/// tlp_tx_mux_tb with as many inputs as an index can name.
module tlp_tx_mux_even_tb;
  tlp_tx_mux_tb #(.N(4)) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
/// reg_demux_tb with writes that are answered at once.
module reg_demux_once_tb;
  reg_demux_tb #(.AtOnce(1)) i_tb ();
endmodule

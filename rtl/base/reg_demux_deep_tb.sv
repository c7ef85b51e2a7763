// SPDX-License-Identifier: Apache-2.0
/// reg_demux_tb with writes that are answered at once, and places for a burst of them.
module reg_demux_deep_tb;
  reg_demux_tb #(
      .AtOnce(1),
      .Held  (16)
  ) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
/// dma_write_tb with 128-byte beats.
module dma_write_wide_tb;
  dma_write_tb #(.Beat(pcie_pkg::wide_tlp_beat_t)) i_tb ();
endmodule

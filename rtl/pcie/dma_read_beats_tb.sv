// SPDX-License-Identifier: Apache-2.0
/// dma_read_tb with 128-byte beats and tags of 10 bits.
module dma_read_beats_tb;
  dma_read_tb #(
      .Tags(512),
      .Beat(pcie_pkg::wide_tlp_beat_t)
  ) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
/// seg_ram_dma_wr_tb with whole rows read.
module seg_ram_dma_wr_wide_tb;
  seg_ram_dma_wr_tb #(.DataBytes(dma_pkg::RowBytes)) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
/// dma_read_tb with tags of 10 bits.
module dma_read_wide_tb;
  dma_read_tb #(.Tags(512)) i_tb ();
endmodule

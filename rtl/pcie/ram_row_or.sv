// SPDX-License-Identifier: Apache-2.0
/// Joins the read ports of `N` DMA RAMs: a RAM that is not read gives zero, so their outputs are ORed. Combinational.
module ram_row_or
  import dma_pkg::*;
#(
    parameter int N = 2
) (
    input  ram_row_t [N-1:0] row_i,
    output ram_row_t         row_o
);
  always_comb begin
    row_o = '0;
    for (int i = 0; i < N; i++) row_o |= row_i[i];
  end
endmodule

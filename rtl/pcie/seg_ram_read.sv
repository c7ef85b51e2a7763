// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// RAM of `Segs` segments a row, each written on its own, read by the DMA write engine.
///
/// Write side: each of the `Lanes` of a segment has its own address and enable, one write a clock. Read side: any segment at any row, one read
/// of all segments a clock, data `RamReadLatency` (2) clocks after `ram_i`. Only reads with the RAM's own `Sel` are served and
/// the output is zero otherwise, so that the outputs of several RAMs are simply ORed. Nothing is ever refused; a read in the
/// clock of the write of the same bytes gives the old ones. Contents are not reset.
module seg_ram_read
  import dma_pkg::*;
#(
    parameter int Rows = 512,
    parameter int Lanes = 1,  // of a segment
    parameter ram_sel_t Sel = '0,
    localparam int RowW = $clog2(Rows)
) (
    input logic clk_i,
    input logic rst_i,

    input logic [Segs-1:0][Lanes-1:0] we_i,
    input logic [Segs-1:0][Lanes-1:0][RowW-1:0] waddr_i,
    input logic [Segs-1:0][SegW-1:0] wdata_i,

    input  ram_read_t ram_i,
    output ram_row_t  ram_o
);
  localparam int LaneBits = SegW / Lanes;
  wire selected = |ram_i.valid && ram_i.sel == Sel;
  ram_row_t read, row_q;
  logic read_q, shown_q;

  for (genvar s = 0; s < Segs; s++) begin : g_seg
    for (genvar l = 0; l < Lanes; l++) begin : g_lane
      ram_sdp #(
          .Width(LaneBits),
          .Depth(Rows)
      ) i_ram (
          .clk_i,
          .we_i   (we_i[s][l]),
          .waddr_i(waddr_i[s][l]),
          .wdata_i(wdata_i[s][LaneBits*l+:LaneBits]),
          .re_i   (selected && ram_i.valid[s]),
          .raddr_i(ram_i.row[s][RowW-1:0]),
          .rdata_o(read[s][LaneBits*l+:LaneBits])
      );
    end
  end

  assign ram_o = row_q;
  always_ff @(posedge clk_i) begin
    read_q  <= selected;
    shown_q <= read_q;
    if (read_q) row_q <= read;
    else if (shown_q) row_q <= '0;
    if (rst_i) begin
      read_q  <= 1'b0;
      shown_q <= 1'b0;
      row_q   <= '0;  // the OR with other RAMs must start from zero
    end
  end

  `ASSERT(ZeroUnlessSelected, !shown_q |-> ram_o == '0)
endmodule

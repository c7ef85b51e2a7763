// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Staging memory of a link: the packer writes up to 80 bytes anywhere on an 8-byte boundary, also across the end of a
/// page, the DMA write engine reads any 64 bytes.
///
/// One write and one read a clock, nothing is ever refused. A write is 16 lanes of 8 bytes, each in one of two rows. Data
/// comes `RamReadLatency` (2) clocks after `ram_i`, zero when another RAM is selected; a read in the clock of the write of
/// the same bytes gives the old ones. Contents are not reset.
module cap_stage_ram
  import dma_pkg::*, cap_pkg::*;
#(
    parameter int Bytes = 131072,
    parameter ram_sel_t Sel = '0
) (
    input logic clk_i,
    input logic rst_i,

    input logic         write_i,
    input stage_write_t stage_i,

    input  ram_read_t ram_i,
    output ram_row_t  ram_o
);
  localparam int Rows = Bytes / RowBytes;
  localparam int RowW = $clog2(Rows);
  if (2 ** RowW * RowBytes != Bytes || RowW > RowAddrW) begin : g_bad_parameter
    $fatal(1, "cap_stage_ram: Bytes %0d is not a power of two up to %0d", Bytes, 2 ** RamAddrW);
  end

  wire selected = |ram_i.valid && ram_i.sel == Sel;
  ram_row_t read, row_q;
  logic read_q, shown_q;

  for (genvar s = 0; s < Segs; s++) begin : g_seg
    // The two lanes of a segment lie in different rows only when one of them is not written.
    wire [1:0] lanes = stage_i.lanes[2*s+:2];
    wire second = lanes[0] ? stage_i.second[2*s] : stage_i.second[2*s+1];
    ram_sdp #(
        .Width(SegW),
        .Depth(Rows),
        .Lanes(2)
    ) i_ram (
        .clk_i,
        .we_i   (write_i ? lanes : 2'b00),
        .waddr_i(second ? stage_i.next_row[RowW-1:0] : stage_i.row[RowW-1:0]),
        .wdata_i(stage_i.data[s*SegW+:SegW]),
        .re_i   (selected && ram_i.valid[s]),
        .raddr_i(ram_i.row[s][RowW-1:0]),
        .rdata_o(read[s])
    );
    `ASSERT(OneRowASegment,
            write_i && lanes == 2'b11 |-> stage_i.second[2*s] == stage_i.second[2*s+1])
  end

  assign ram_o = row_q;
  wire unused = &{1'b0, stage_i.valid, stage_i.row, stage_i.next_row};

  always_ff @(posedge clk_i) begin
    read_q  <= selected;
    shown_q <= read_q;
    if (read_q) row_q <= read;
    else if (shown_q) row_q <= '0;
    if (rst_i) begin
      read_q  <= 1'b0;
      shown_q <= 1'b0;
      row_q   <= '0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// Staging memory of a link: the packer writes up to 128 bytes anywhere on an 8-byte boundary, also across the end of a
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

  logic [15:0] we;
  logic [15:0][RowW-1:0] waddr;
  assign we = write_i ? stage_i.lanes : '0;
  for (genvar i = 0; i < 16; i++) begin : g_lane
    assign waddr[i] = stage_i.second[i] ? stage_i.next_row[RowW-1:0] : stage_i.row[RowW-1:0];
  end
  seg_ram_read #(
      .Rows (Rows),
      .Lanes(2),
      .Sel  (Sel)
  ) i_ram (
      .clk_i,
      .rst_i,
      .we_i(we),
      .waddr_i(waddr),
      .wdata_i(stage_i.data),
      .ram_i,
      .ram_o
  );
  wire unused = &{1'b0, stage_i.row, stage_i.next_row};
endmodule

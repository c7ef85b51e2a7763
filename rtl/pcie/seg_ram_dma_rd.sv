// SPDX-License-Identifier: Apache-2.0
/// DMA RAM that the datapath fills in order and the DMA write engine empties (host-nic paper, section II-F).
///
/// Write side: half a row or a whole one a clock (`DataBytes`), `waddr_i` counts these. Read side: any segment at any row, one read
/// of all segments a clock, data `RamReadLatency` (2) clocks after `ram_i`; addresses wrap at `Bytes`. Only reads with the
/// RAM's own `Sel` are served and the output is zero otherwise, so that the outputs of several RAMs are simply ORed.
/// Nothing is ever refused; a read in the clock of the write of the same bytes gives the old ones. Contents are not reset.
module seg_ram_dma_rd
  import dma_pkg::*;
#(
    parameter int Bytes = 65536,
    parameter ram_sel_t Sel = '0,
    parameter int DataBytes = 64,  // or RowBytes
    localparam int AddrW = $clog2(Bytes / DataBytes)
) (
    input logic clk_i,
    input logic rst_i,

    // Write side, from the datapath.
    input logic                   we_i,
    input logic [      AddrW-1:0] waddr_i,
    input logic [8*DataBytes-1:0] wdata_i,

    // Read side, from the DMA write engine.
    input  ram_read_t ram_i,
    output ram_row_t  ram_o
);
  localparam int Rows = Bytes / RowBytes;
  localparam int RowW = $clog2(Rows);
  if (Rows < 2 || 2 ** RowW * RowBytes != Bytes || RowW > RowAddrW) begin : g_bad_parameter
    $fatal(
        1, "seg_ram_dma_rd: Bytes %0d is not a power of two from 256 to %0d", Bytes, 2 ** RamAddrW
    );
  end

  logic [Segs-1:0] we;
  for (genvar s = 0; s < Segs; s++) begin : g_seg
    assign we[s] = we_i && (DataBytes == RowBytes || waddr_i[0] == (s >= Segs / 2));
  end
  seg_ram_read #(
      .Rows(Rows),
      .Sel (Sel)
  ) i_ram (
      .clk_i,
      .rst_i,
      .we_i(we),
      .waddr_i({Segs{waddr_i[AddrW-1-:RowW]}}),
      .wdata_i({RowBytes / DataBytes{wdata_i}}),
      .ram_i,
      .ram_o
  );
endmodule

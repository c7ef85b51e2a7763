// SPDX-License-Identifier: Apache-2.0
/// DMA RAM that the DMA read engine fills and the datapath empties in order (host-nic paper, section II-F).
///
/// Write side: each segment takes a row and byte strobes of its own each clock, so any 64 bytes at any byte address are
/// written in one clock; only writes with the RAM's own `Sel` are taken, addresses wrap at `Bytes`. Read side: half a row or a
/// whole one a clock (`DataBytes`), `raddr_i` counts these, `rdata_o` comes 2 clocks after `re_i` and holds until the next
/// read. Nothing is ever refused; a read in the clock of the write of the same bytes gives the old ones. Contents are not
/// reset.
module seg_ram_dma_wr
  import dma_pkg::*;
#(
    parameter int Bytes = 65536,
    parameter ram_sel_t Sel = '0,
    parameter int DataBytes = 64,  // or RowBytes
    localparam int AddrW = $clog2(Bytes / DataBytes)
) (
    input logic clk_i,
    input logic rst_i,

    // Write side, from the DMA read engine.
    input ram_write_t ram_i,

    // Read side, to the datapath.
    input  logic                   re_i,
    input  logic [      AddrW-1:0] raddr_i,
    output logic [8*DataBytes-1:0] rdata_o
);
  localparam int Rows = Bytes / RowBytes;
  localparam int RowW = $clog2(Rows);
  if (Rows < 2 || 2 ** RowW * RowBytes != Bytes || RowW > RowAddrW) begin : g_bad_parameter
    $fatal(
        1, "seg_ram_dma_wr: Bytes %0d is not a power of two from 256 to %0d", Bytes, 2 ** RamAddrW
    );
  end

  wire selected = |ram_i.valid && ram_i.sel == Sel;
  localparam bit Whole = DataBytes == RowBytes;
  ram_row_t row;
  logic read_q, upper_q;

  for (genvar s = 0; s < Segs; s++) begin : g_seg
    ram_sdp #(
        .Width(SegW),
        .Depth(Rows),
        .Lanes(SegBytes)
    ) i_ram (
        .clk_i,
        .we_i   ((selected && ram_i.valid[s]) ? ram_i.strb[s] : '0),
        .waddr_i(ram_i.row[s][RowW-1:0]),
        .wdata_i(ram_i.data[s]),
        .re_i   (re_i && (Whole || raddr_i[0] == (s >= Segs / 2))),
        .raddr_i(raddr_i[AddrW-1-:RowW]),
        .rdata_o(row[s])
    );
  end

  always_ff @(posedge clk_i) begin
    read_q  <= re_i;
    upper_q <= !Whole && raddr_i[0];
    if (read_q) rdata_o <= row[upper_q?Segs/2 : 0+:DataBytes/SegBytes];
    if (rst_i) read_q <= 1'b0;
  end
endmodule

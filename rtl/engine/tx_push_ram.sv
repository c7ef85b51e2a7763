// SPDX-License-Identifier: Apache-2.0
/// Packets that the CPU pushed with their descriptors, as units for the transmit engine.
///
/// `push_i` stores a line of an entry; the packet begins behind the descriptor, at byte 16 of line 0. `rdata_o` is the first unit
/// of the packet in an entry, or its second, RamReadLatency clocks after these were named. One line and one unit a clock.
module tx_push_ram
  import dma_pkg::*, queue_pkg::*, engine_pkg::*;
(
    input  logic                          clk_i,
    input  push_store_t                   push_i,
    input  push_entry_t                   entry_i,
    input  logic                          second_i,
    output logic        [8*UnitBytes-1:0] rdata_o
);
  localparam int Pieces = UnitBytes / SegBytes;
  ram_row_t row;

  // A line is half a unit, one piece late: its piece 0 is the last one of the half before.
  for (genvar s = 0; s < Pieces; s++) begin : g_piece
    localparam bit First = (s + 1) % 4 == 0;
    localparam bit Half = s >= Pieces / 2;
    wire [1:0] at_line = First ? push_i.line - 2'd1 : push_i.line;
    ram_sdp #(
        .Width(SegW),
        .Depth(2 * PushEntries)
    ) i_ram (
        .clk_i,
        .we_i(push_i.valid && at_line[0] == Half && !(First && push_i.line == '0)),
        .waddr_i({push_i.entry, at_line[1]}),
        .wdata_i(push_i.data[SegW*((s+1)%4)+:SegW]),
        .re_i(1'b1),
        .raddr_i({entry_i, second_i}),
        .rdata_o(row[s])
    );
  end
  always_ff @(posedge clk_i) rdata_o <= row;
endmodule

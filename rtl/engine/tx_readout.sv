// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Packet RAM of the transmit path and the way from it to a stream of units (host-nic paper, section II-F).
///
/// The DMA read engine writes through `ram_i`; packets that the CPU pushed are beside it, in tx_push_ram. Each clock with `read_i` (only while `room_o`) reads one unit, which
/// leaves as one beat of `unit` about 4 clocks later with the marks given beside it. One beat a clock without bubbles,
/// full back-pressure: room is counted from the read until the beat is taken.
module tx_readout
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter int RamBytes = 131072,
    parameter ram_sel_t Sel = '0,
    parameter int Depth = 8,  // beats between read and taken
    localparam int UnitW = $clog2(RamBytes / UnitBytes)
) (
    input logic        clk_i,
    input logic        rst_i,
    input ram_write_t  ram_i,
    input push_store_t push_i,

    // Read command.
    output logic room_o,
    input logic read_i,
    input logic [UnitW-1:0] unit_i,
    input logic inlined_i,  // of a pushed packet: its first unit, or its second
    input push_entry_t entry_i,
    input tx_mark_t mark_i,

    // tx_unit_t
    stream_if.src unit
);
  typedef struct packed {
    logic     inlined;
    tx_mark_t unit;
  } mark_t;

  logic [8*UnitBytes-1:0] rdata, pushed;
  seg_ram_dma_wr #(
      .Bytes(RamBytes),
      .Sel(Sel),
      .DataBytes(UnitBytes)
  ) i_ram (
      .clk_i,
      .rst_i,
      .ram_i,
      .re_i(read_i),
      .raddr_i(unit_i),
      .rdata_o(rdata)
  );
  tx_push_ram i_push (
      .clk_i,
      .push_i,
      .entry_i,
      .second_i(!mark_i.sop),
      .rdata_o (pushed)
  );

  logic  [RamReadLatency-1:0] valid_q;
  mark_t [RamReadLatency-1:0] mark_q;
  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[RamReadLatency-2:0], read_i};
    mark_q  <= {mark_q[RamReadLatency-2:0], mark_t'{inlined: inlined_i, unit: mark_i}};
    if (rst_i) valid_q <= '0;
  end

  `STREAM(tx_unit_t, out_in)
  mark_t mark;
  logic [$clog2(Depth+1)-1:0] held;
  assign mark = mark_q[RamReadLatency-1];
  assign out_in.valid = valid_q[RamReadLatency-1];
  `STREAM_DATA(out_in, '{beat: '{data: mark.inlined ? pushed : rdata, len: mark.unit.len,
                         sop: mark.unit.sop, eop: mark.unit.eop, err: 1'b0},
                       csum: mark.unit.csum, stream: mark.unit.stream, from : mark.unit.from,
                       ends: mark.unit.ends, fail: mark.unit.fail, cut: mark.unit.cut,
                       mss: mark.unit.mss, total: mark.unit.total})
  fifo #(
      .T(tx_unit_t),
      .Depth(Depth)
  ) i_out (
      .clk_i,
      .rst_i,
      .in(out_in),
      .out(unit),
      .count_o(held)
  );
  // Beats on their way from the RAM are counted as well.
  assign room_o = 32'(held) + 32'($countones(valid_q)) < 32'(Depth);

  `ASSERT(RoomIsKept, out_in.valid |-> out_in.ready)
  `ASSERT(ReadNeedsRoom, read_i |-> room_o)
endmodule

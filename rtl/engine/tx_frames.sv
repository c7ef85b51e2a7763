// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// From packets in the transmit engine's RAM to frames: read out, cut into TCP segments where that is wanted and `Segment` is built, cut
/// out of the turns of stream queues.
///
/// Wiring only: tx_readout, tx_segment, tx_cut; as they are in throughput, latency and back-pressure. `token` is tx_cut's, `segments` one entry for
/// each packet to be cut, in order.
module tx_frames
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter int RamBytes = 131072,
    parameter ram_sel_t Sel = '0,
    parameter int Depth = 8,
    parameter bit Vlan = 0,
    parameter bit Segment = 0,
    localparam int UnitW = $clog2(RamBytes / UnitBytes)
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic        [13:0] max_frame_i,
    input ram_write_t         ram_i,
    input push_store_t        push_i,

    // Read command: of a unit, its marks.
    output logic room_o,
    input logic read_i,
    input logic [UnitW-1:0] unit_i,
    input logic inlined_i,
    input push_entry_t entry_i,
    input tx_mark_t mark_i,

    stream_if.src frame,  // wide_beat_t
    output tx_csum_t csum_o,
    stream_if.src token,  // tx_token_t
    stream_if.src segments  // tx_segments_t
);
  `STREAM(tx_unit_t, unit)
  `STREAM(tx_unit_t, piece)
  tx_readout #(
      .RamBytes(RamBytes),
      .Sel(Sel),
      .Depth(Depth)
  ) i_readout (
      .clk_i,
      .rst_i,
      .ram_i,
      .push_i,
      .room_o,
      .read_i,
      .unit_i,
      .inlined_i,
      .entry_i,
      .mark_i,
      .unit
  );
  if (Segment) begin : g_segment
    tx_segment i_segment (
        .clk_i,
        .rst_i,
        .max_frame_i,
        .in(unit),
        .out(piece),
        .token(segments)
    );
  end else begin : g_whole
    assign piece.valid = unit.valid;
    assign piece.data = unit.data;
    assign unit.ready = piece.ready;
    assign segments.valid = 1'b0;
    assign segments.data = '0;
  end
  tx_cut #(
      .Vlan(Vlan)
  ) i_cut (
      .clk_i,
      .rst_i,
      .max_frame_i,
      .in(piece),
      .frame,
      .csum_o,
      .token
  );
endmodule

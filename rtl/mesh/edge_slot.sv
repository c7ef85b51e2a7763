// SPDX-License-Identifier: Apache-2.0
/// A place at the edge of the grid, wired to the outer links of its tile: a memory port, a linecard, or nothing (slot_block).
///
/// Each link from the tile ends in a FIFO of four words here: `ready` comes from registers, and so does everything that goes
/// into the block.
module edge_slot
  import mesh_pkg::*;
#(
    parameter int DramLatency = 16
) (
    input logic   clk_i,
    input logic   rst_i,
    input logic   run_i,
    input place_t place_i, // the tile, and its side on which this is

    // Settings and counters.
    input  logic        cfg_we_i,
    input  logic  [4:0] cfg_addr_i,
    input  word_t       cfg_wdata_i,
    output word_t       cfg_rdata_o,

    // Links from and to the tile.
    stream_if.snk st1_in,
    stream_if.snk st2_in,
    stream_if.snk gdn_in,
    stream_if.snk mdn_in,
    stream_if.src st1_out,
    stream_if.src st2_out,
    stream_if.src gdn_out,
    stream_if.src mdn_out,

    // DRAM: data comes DramLatency clocks after rd_valid; byte addresses; enable 3 is for bits 31:24.
    output logic        dram_rd_valid_o,
    output word_t       dram_rd_addr_o,
    input  word_t       dram_rd_data_i,
    output logic        dram_wr_valid_o,
    output word_t       dram_wr_addr_o,
    output word_t       dram_wr_data_o,
    output logic  [3:0] dram_wr_be_o,

    // Wire: wire_beat_t.
    stream_if.snk wire_in,
    stream_if.src wire_out
);
  if (DramLatency < 1 || DramLatency > 63) begin : g_bad_parameter
    $fatal(1, "edge_slot: DramLatency %0d is not 1 .. 63", DramLatency);
  end

  // Links from the tile.
  stream_if #(.T(word_t))
      st1 (
          clk_i,
          rst_i
      ),
      st2 (
          clk_i,
          rst_i
      ),
      gdn (
          clk_i,
          rst_i
      ),
      mdn (
          clk_i,
          rst_i
      );
  link_fifo st1_fifo (
      .clk_i,
      .rst_i,
      .in (st1_in),
      .out(st1)
  );
  link_fifo st2_fifo (
      .clk_i,
      .rst_i,
      .in (st2_in),
      .out(st2)
  );
  link_fifo gdn_fifo (
      .clk_i,
      .rst_i,
      .in (gdn_in),
      .out(gdn)
  );
  link_fifo mdn_fifo (
      .clk_i,
      .rst_i,
      .in (mdn_in),
      .out(mdn)
  );

  logic [3:0] ready, valid;
  word_t [3:0] data;
  wire_beat_t wire_data;
  assign st1.ready = ready[0];
  assign st1_out.valid = valid[0];
  assign st1_out.data = data[0];
  assign st2.ready = ready[1];
  assign st2_out.valid = valid[1];
  assign st2_out.data = data[1];
  assign gdn.ready = ready[2];
  assign gdn_out.valid = valid[2];
  assign gdn_out.data = data[2];
  assign mdn.ready = ready[3];
  assign mdn_out.valid = valid[3];
  assign mdn_out.data = data[3];
  assign wire_out.data = wire_data;
  slot_block block (
      .clk_i,
      .rst_i,
      .run_i,
      .place_i,
      .cfg_we_i,
      .cfg_addr_i,
      .cfg_wdata_i,
      .cfg_rdata_o,
      .link_valid_i({mdn.valid, gdn.valid, st2.valid, st1.valid}),
      .link_data_i({mdn.data, gdn.data, st2.data, st1.data}),
      .link_ready_o(ready),
      .link_valid_o(valid),
      .link_data_o(data),
      .link_ready_i({mdn_out.ready, gdn_out.ready, st2_out.ready, st1_out.ready}),
      .dram_latency_i(6'(DramLatency)),
      .dram_rd_valid_o,
      .dram_rd_addr_o,
      .dram_rd_data_i,
      .dram_wr_valid_o,
      .dram_wr_addr_o,
      .dram_wr_data_o,
      .dram_wr_be_o,
      .wire_valid_i(wire_in.valid),
      .wire_data_i(wire_in.data),
      .wire_ready_o(wire_in.ready),
      .wire_valid_o(wire_out.valid),
      .wire_data_o(wire_data),
      .wire_ready_i(wire_out.ready)
  );
endmodule

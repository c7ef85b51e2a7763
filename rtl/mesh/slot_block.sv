// SPDX-License-Identifier: Apache-2.0
/// The inside of an edge slot (slot_inside) as a block that Verilator compiles once for all slots (`hier_block`): ports of
/// plain bits, no parameters, and no package imported, since Verilator reads this file before the packages then.
module slot_block (
    input logic clk_i,
    input logic rst_i,
    input logic run_i,
    input mesh_pkg::place_t place_i,  // the tile, and its side on which this is

    // Settings and counters.
    input  logic                  cfg_we_i,
    input  logic            [4:0] cfg_addr_i,
    input  mesh_pkg::word_t       cfg_wdata_i,
    output mesh_pkg::word_t       cfg_rdata_o,

    // Links from the tile, after their FIFOs, and to the tile: static 1, static 2, GDN, MDN.
    input logic [3:0] link_valid_i,
    input mesh_pkg::word_t [3:0] link_data_i,
    output logic [3:0] link_ready_o,
    output logic [3:0] link_valid_o,
    output mesh_pkg::word_t [3:0] link_data_o,
    input logic [3:0] link_ready_i,

    // DRAM: data comes `dram_latency_i` clocks after rd_valid; byte addresses; enable 3 is for bits 31:24.
    input  logic            [5:0] dram_latency_i,
    output logic                  dram_rd_valid_o,
    output mesh_pkg::word_t       dram_rd_addr_o,
    input  mesh_pkg::word_t       dram_rd_data_i,
    output logic                  dram_wr_valid_o,
    output mesh_pkg::word_t       dram_wr_addr_o,
    output mesh_pkg::word_t       dram_wr_data_o,
    output logic            [3:0] dram_wr_be_o,

    // Wire.
    input  logic                 wire_valid_i,
    input  mesh_pkg::wire_beat_t wire_data_i,
    output logic                 wire_ready_o,
    output logic                 wire_valid_o,
    output mesh_pkg::wire_beat_t wire_data_o,
    input  logic                 wire_ready_i
);
  /*verilator hier_block*/

  slot_inside i_inside (
      .clk_i,
      .rst_i,
      .run_i,
      .place_i,
      .cfg_we_i,
      .cfg_addr_i,
      .cfg_wdata_i,
      .cfg_rdata_o,
      .link_valid_i,
      .link_data_i,
      .link_ready_o,
      .link_valid_o,
      .link_data_o,
      .link_ready_i,
      .dram_latency_i,
      .dram_rd_valid_o,
      .dram_rd_addr_o,
      .dram_rd_data_i,
      .dram_wr_valid_o,
      .dram_wr_addr_o,
      .dram_wr_data_o,
      .dram_wr_be_o,
      .wire_valid_i,
      .wire_data_i,
      .wire_ready_o,
      .wire_valid_o,
      .wire_data_o,
      .wire_ready_i
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
/// tile-router: a grid of tiles with memories and linecards around it (paper: section 1 to 4), wiring only.
///
/// Everything that makes it a router is loaded through the boot port (boot_pkg): programs of cores and switches, which slot is a
/// memory and which a linecard. So one build is every version of the router. Pins beyond it: the DRAMs' and the wires' sides
/// of the slots (mesh). All in one clock. The boot port takes an access (`boot_req_i` for a clock) when the one before
/// was answered (`boot_ack_o`).
module tile_router
  import boot_pkg::*, mesh_pkg::word_t;
#(
    parameter int Cols = 4,
    parameter int Rows = 4,
    parameter int ImemBytes = 32768,  // instruction memory of a tile
    parameter int RamBytes = 8192,  // its data RAM
    parameter int CacheBytes = 32768,  // its data cache
    parameter int Instructions = 512,  // of its switch
    parameter int DramLatency = 16,  // clocks from rd_valid to rd_data
    parameter bit Predict = 1'b1,  // 0: every jump costs the core two clocks
    parameter int LoadUse = 0,  // clocks more until a load's result can be used
    parameter int Mispredict = 0,  // clocks more that a wrong prediction costs
    localparam int Tiles = Cols * Rows,
    localparam int Slots = 2 * (Cols + Rows)
) (
    input logic clk_i,
    input logic rst_i,

    // Boot port.
    input  logic                 boot_req_i,
    input  logic                 boot_write_i,
    input  logic [BootAddrW-1:0] boot_addr_i,     // in bytes
    input  logic [         31:0] boot_wdata_i,
    output logic                 boot_ack_o,
    output logic [         31:0] boot_rdata_o,
    output logic                 boot_unmapped_o,

    // DRAM of each slot: byte addresses of words.
    output logic        dram_rd_valid_o[Slots],
    output logic [31:0] dram_rd_addr_o [Slots],
    input  logic [31:0] dram_rd_data_i [Slots],
    output logic        dram_wr_valid_o[Slots],
    output logic [31:0] dram_wr_addr_o [Slots],
    output logic [31:0] dram_wr_data_o [Slots],
    output logic [ 3:0] dram_wr_be_o   [Slots],

    // Wire of each slot, in and out.
    input  logic        wire_in_valid_i [Slots],
    output logic        wire_in_ready_o [Slots],
    input  logic [31:0] wire_in_data_i  [Slots],
    input  logic        wire_in_sop_i   [Slots],
    input  logic        wire_in_eop_i   [Slots],
    input  logic [ 2:0] wire_in_bytes_i [Slots],
    output logic        wire_out_valid_o[Slots],
    input  logic        wire_out_ready_i[Slots],
    output logic [31:0] wire_out_data_o [Slots],
    output logic        wire_out_sop_o  [Slots],
    output logic        wire_out_eop_o  [Slots],
    output logic [ 2:0] wire_out_bytes_o[Slots],

    // For whoever looks on: what the cores do (clock_use_e, trap_e).
    output logic [2:0] use_o [Tiles],
    output logic [3:0] trap_o[Tiles]
);
  core_pkg::clock_use_e core_use[Tiles];
  core_pkg::trap_e core_trap[Tiles];
  for (genvar t = 0; t < Tiles; t++) begin : g_use
    assign use_o[t]  = core_use[t];
    assign trap_o[t] = core_trap[t];
  end

  mesh #(
      .Cols        (Cols),
      .Rows        (Rows),
      .ImemBytes   (ImemBytes),
      .RamBytes    (RamBytes),
      .CacheBytes  (CacheBytes),
      .Instructions(Instructions),
      .DramLatency (DramLatency),
      .Predict     (Predict),
      .LoadUse     (LoadUse),
      .Mispredict  (Mispredict)
  ) i_mesh (
      .clk_i,
      .rst_i,
      .boot_req_i,
      .boot_write_i,
      .boot_addr_i,
      .boot_wdata_i,
      .boot_ack_o,
      .boot_rdata_o,
      .boot_unmapped_o,
      .dram_rd_valid_o,
      .dram_rd_addr_o,
      .dram_rd_data_i,
      .dram_wr_valid_o,
      .dram_wr_addr_o,
      .dram_wr_data_o,
      .dram_wr_be_o,
      .wire_in_valid_i,
      .wire_in_ready_o,
      .wire_in_data_i,
      .wire_in_sop_i,
      .wire_in_eop_i,
      .wire_in_bytes_i,
      .wire_out_valid_o,
      .wire_out_ready_i,
      .wire_out_data_o,
      .wire_out_sop_o,
      .wire_out_eop_o,
      .wire_out_bytes_o,
      .use_o (core_use),
      .trap_o(core_trap)
  );
endmodule

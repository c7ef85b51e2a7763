// SPDX-License-Identifier: Apache-2.0
/// A tile with ports of plain bits and no parameters, which Verilator compiles once for all tiles (`--hierarchical`): the same
/// clock for clock, a tenth of the code to compile, but slower to run, because the simulator cannot see that nothing in a tile
/// goes from its inputs to its outputs and back within a clock. Without `--hierarchical` it is just a tile.
/// Links by 4 * network + side as in tile.
module tile_block (
    input logic       clk_i,
    input logic       rst_i,
    input logic [3:0] x_i,
    input logic [3:0] y_i,
    input logic [4:0] number_i,
    input logic       go_i,

    // Boot port.
    input  logic        boot_req_i,
    input  logic        boot_write_i,
    input  logic [25:0] boot_addr_i,
    input  logic [31:0] boot_wdata_i,
    output logic        boot_ack_o,
    output logic [31:0] boot_rdata_o,

    // Neighbours.
    input  logic [15:0]       in_valid_i,
    input  logic [15:0][31:0] in_data_i,
    output logic [15:0]       in_ready_o,
    output logic [15:0]       out_valid_o,
    output logic [15:0][31:0] out_data_o,
    input  logic [15:0]       out_ready_i,

    // What the core does: clock_use_e, trap_e.
    output logic [2:0] use_o,
    output logic [3:0] trap_o
);
  /* verilator hier_block */
  reg_if #(.AddrW(26)) boot ();
  assign boot.req = boot_req_i;
  assign boot.write = boot_write_i;
  assign boot.addr = boot_addr_i;
  assign boot.wdata = boot_wdata_i;
  assign boot.wstrb = '1;
  assign boot_ack_o = boot.ack;
  assign boot_rdata_o = boot.rdata;

  stream_if #(.T(logic [31:0]))
      in[16] (
          clk_i,
          rst_i
      ),
      out[16] (
          clk_i,
          rst_i
      );
  for (genvar k = 0; k < 16; k++) begin : g_link
    assign in[k].valid = in_valid_i[k];
    assign in[k].data = in_data_i[k];
    assign in_ready_o[k] = in[k].ready;
    assign out_valid_o[k] = out[k].valid;
    assign out_data_o[k] = out[k].data;
    assign out[k].ready = out_ready_i[k];
  end

  tile i_tile (
      .clk_i,
      .rst_i,
      .x_i,
      .y_i,
      .number_i,
      .go_i,
      .boot,
      .in,
      .out,
      .use_o,
      .trap_o
  );
endmodule

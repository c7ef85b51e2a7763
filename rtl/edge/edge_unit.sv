// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// An edge slot with its boot port: what the grid has at the end of each link that leaves it (edge_slot says what it can be).
///
/// Links: static 1, static 2, GDN, MDN; they begin in a link_out and end in a link_fifo, so that no combinational path leads
/// through a slot. Boot port: settings and counters by word (boot_slot). Its place is that of the last clock of reset.
module edge_unit
  import mesh_pkg::*;
#(
    parameter int DramLatency = 16
) (
    input logic   clk_i,
    input logic   rst_i,
    input logic   run_i,
    input place_t place_i, // the tile, and its side on which this is

    // Boot port: offset in the slot's region, answered by a clock of ack.
    input  logic         boot_req_i,
    input  logic         boot_write_i,
    input  logic  [17:0] boot_addr_i,
    input  word_t        boot_wdata_i,
    output logic         boot_ack_o,
    output word_t        boot_rdata_o,

    // Links from and to the tile.
    input  logic  [3:0] in_valid_i,
    input  word_t [3:0] in_data_i,
    output logic  [3:0] in_room_o,
    output logic  [3:0] out_valid_o,
    output word_t [3:0] out_data_o,
    input  logic  [3:0] out_room_i,

    // DRAM: data comes DramLatency clocks after rd_valid; byte addresses; enable 3 is for bits 31:24.
    output logic        dram_rd_valid_o,
    output word_t       dram_rd_addr_o,
    input  word_t       dram_rd_data_i,
    output logic        dram_wr_valid_o,
    output word_t       dram_wr_addr_o,
    output word_t       dram_wr_data_o,
    output logic  [3:0] dram_wr_be_o,

    // Wire: a word a clock, first byte in bits 31:24; `bytes` (1 ... 4) counts in the last one.
    input  logic        wire_in_valid_i,
    output logic        wire_in_ready_o,
    input  word_t       wire_in_data_i,
    input  logic        wire_in_sop_i,
    input  logic        wire_in_eop_i,
    input  logic  [2:0] wire_in_bytes_i,
    output logic        wire_out_valid_o,
    input  logic        wire_out_ready_i,
    output word_t       wire_out_data_o,
    output logic        wire_out_sop_o,
    output logic        wire_out_eop_o,
    output logic  [2:0] wire_out_bytes_o
);
  place_t place_q;
  logic   run_q;
  always_ff @(posedge clk_i) begin
    run_q <= run_i && !rst_i;
    if (rst_i) place_q <= place_i;
  end

  logic we;
  logic [4:0] addr;
  word_t wdata, rdata;
  boot_slot settings (
      .clk_i,
      .rst_i,
      .boot_req_i,
      .boot_write_i,
      .boot_addr_i,
      .boot_wdata_i,
      .boot_ack_o,
      .boot_rdata_o,
      .we_o   (we),
      .addr_o (addr),
      .wdata_o(wdata),
      .rdata_i(rdata)
  );

  `STREAM(word_t, in[4])
  `STREAM(word_t, out[4])
  for (genvar n = 0; n < 4; n++) begin : g_link
    assign in[n].valid = in_valid_i[n];
    assign in[n].data  = in_data_i[n];
    link_out to_tile (
        .clk_i,
        .rst_i,
        .in     (out[n]),
        .valid_o(out_valid_o[n]),
        .data_o (out_data_o[n]),
        .room_i (out_room_i[n])
    );
  end
  `STREAM(wire_beat_t, wire_in)
  `STREAM(wire_beat_t, wire_out)
  assign wire_in.valid = wire_in_valid_i;
  assign wire_in.data = '{
          data: wire_in_data_i,
          sop: wire_in_sop_i,
          eop: wire_in_eop_i,
          bytes: wire_in_bytes_i
      };
  assign wire_in_ready_o = wire_in.ready;
  assign wire_out_valid_o = wire_out.valid;
  assign wire_out_data_o = wire_out.data.data;
  assign wire_out_sop_o = wire_out.data.sop;
  assign wire_out_eop_o = wire_out.data.eop;
  assign wire_out_bytes_o = wire_out.data.bytes;
  assign wire_out.ready = wire_out_ready_i;

  edge_slot #(
      .DramLatency(DramLatency)
  ) i_slot (
      .clk_i,
      .rst_i,
      .run_i      (run_q),
      .place_i    (place_q),
      .cfg_we_i   (we),
      .cfg_addr_i (addr),
      .cfg_wdata_i(wdata),
      .cfg_rdata_o(rdata),
      .st1_in     (in[0]),
      .st2_in     (in[1]),
      .gdn_in     (in[2]),
      .mdn_in     (in[3]),
      .st1_out    (out[0]),
      .st2_out    (out[1]),
      .gdn_out    (out[2]),
      .mdn_out    (out[3]),
      .room_o     (in_room_o),
      .dram_rd_valid_o,
      .dram_rd_addr_o,
      .dram_rd_data_i,
      .dram_wr_valid_o,
      .dram_wr_addr_o,
      .dram_wr_data_o,
      .dram_wr_be_o,
      .wire_in,
      .wire_out
  );
endmodule

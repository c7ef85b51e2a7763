// SPDX-License-Identifier: Apache-2.0
`ifndef EMERY_SLOT_DRAM_TB_SVH
`define EMERY_SLOT_DRAM_TB_SVH

/// The DRAM behind a memory port: `Words` words, data `Latency` clocks after the read that asks for them. An access beyond
/// the words fails. `writes` counts.
module slot_dram
  import mesh_pkg::word_t;
#(
    parameter int Words   = 65536,
    parameter int Latency = 12
) (
    input logic clk,
    input logic rst,
    input logic rd_valid,
    input word_t rd_addr,
    output word_t rd_data,
    input logic wr_valid,
    input word_t wr_addr,
    input word_t wr_data,
    input logic [3:0] wr_be
);
  localparam int IndexW = $clog2(Words);
  word_t mem[Words];
  word_t pipe[Latency];
  int writes = 0;
  assign rd_data = pipe[Latency-1];
  always @(posedge clk) begin
    pipe[0] <= rd_valid ? mem[rd_addr[IndexW+1:2]] : 32'hdead_beef;
    for (int i = 1; i < Latency; i++) pipe[i] <= pipe[i-1];
    if (wr_valid && !rst) begin
      writes++;
      for (int i = 0; i < 4; i++) if (wr_be[i]) mem[wr_addr[IndexW+1:2]][8*i+:8] <= wr_data[8*i+:8];
    end
    if (!rst && ((rd_valid && rd_addr >= 4 * Words) || (wr_valid && wr_addr >= 4 * Words)))
      $fatal(1, "FAIL at %0t: %m: an access beyond the memory", $time);
  end
endmodule

`endif

// SPDX-License-Identifier: Apache-2.0
// seg_ram_dma_wr without its contents, as a module in its place: for proofs that do not look at what was read.
// verilog_lint: waive-start module-filename
module seg_ram_dma_wr
  import dma_pkg::*;
#(
    parameter int Bytes = 65536,
    parameter ram_sel_t Sel = '0,
    parameter int DataBytes = 64,
    localparam int AddrW = $clog2(Bytes / DataBytes)
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    input  ram_write_t                   ram_i,
    input  logic                         re_i,
    input  logic       [      AddrW-1:0] raddr_i,
    output logic       [8*DataBytes-1:0] rdata_o
);
  assign rdata_o = '0;
endmodule

// SPDX-License-Identifier: Apache-2.0
`ifndef EMERY_REG_MASTER_FORMAL_SVH
`define EMERY_REG_MASTER_FORMAL_SVH
`include "formal.svh"

/// Register accesses of a proof: any, at any time, one at a time. What the one under way asks for is kept.
module reg_master_formal #(
    parameter int AddrW = 7
) (
    input logic clk_i,
    input logic rst_i,
    input logic req_i,  // assumed to be low while an access is under way
    input logic write_i,
    input logic whole_i,  // all byte strobes
    input logic [AddrW-1:0] addr_i,
    input logic [31:0] wdata_i,
    reg_if.master regs,
    output logic busy_o,
    output logic write_o,  // of the whole word
    output logic [AddrW-1:0] addr_o,
    output logic [31:0] wdata_o
);
  `FORMAL_BEGIN
  assign regs.req   = req_i;
  assign regs.write = write_i;
  assign regs.addr  = addr_i;
  assign regs.wdata = wdata_i;
  assign regs.wstrb = {3'b111, whole_i};
  always_ff @(posedge clk_i) begin
    if (req_i) begin
      busy_o  <= 1'b1;
      write_o <= write_i && whole_i;
      addr_o  <= addr_i;
      wdata_o <= wdata_i;
    end else if (regs.ack) busy_o <= 1'b0;
    if (rst_i) busy_o <= 1'b0;
  end
  always_comb if (busy_o || !started_q) assume (!req_i);
endmodule

`endif

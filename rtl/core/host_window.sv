// SPDX-License-Identifier: Apache-2.0
/// The host's window into the scratchpad: a master of the crossbar behind register accesses.
///
/// A write is a Store with its byte enables, answered when it is taken; a read a Load. A clock each way besides the
/// crossbar. Reset drops the access under way.
module host_window
  import core_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,

    // Crossbar port.
    output logic     req_valid_o,
    output mem_req_t req_o,
    input  logic     req_ready_i,
    input  logic     rsp_valid_i,
    input  mem_rsp_t rsp_i
);
  logic asking_q, write_q;
  logic [31:0] addr_q, wdata_q;
  logic [3:0] wstrb_q;
  always_ff @(posedge clk_i) begin
    if (regs.req) begin
      write_q <= regs.write;
      addr_q  <= ScratchBase + 32'(regs.addr);
      wdata_q <= regs.wdata;
      wstrb_q <= regs.wstrb;
    end
    if (regs.req) asking_q <= 1'b1;
    else if (req_ready_i) asking_q <= 1'b0;
    if (rst_i) asking_q <= 1'b0;
  end
  assign req_valid_o = asking_q;
  assign req_o = '{op: write_q ? Store : Load, addr: addr_q, wdata: wdata_q, be: wstrb_q};
  assign regs.ack = (asking_q && req_ready_i && write_q) || rsp_valid_i;
  assign regs.rdata = rsp_i.rdata;
  wire unused = rsp_i.error;
endmodule

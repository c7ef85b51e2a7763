// SPDX-License-Identifier: Apache-2.0
/// A generated register block (SystemRDL, pass-through bus) as a slave of `reg_if`. Combinational; the `_o` and `_i` ports go
/// to the ports `s_cpuif_*` of the same name.
module reg_passthrough #(
    parameter int AddrW = 12  // of the block
) (
    reg_if.slave regs,

    // Pass-through bus of the block.
    output logic             req_o,
    output logic             req_is_wr_o,
    output logic [AddrW-1:0] addr_o,
    output logic [     31:0] wr_data_o,
    output logic [     31:0] wr_biten_o,
    input  logic             rd_ack_i,
    input  logic [     31:0] rd_data_i,
    input  logic             wr_ack_i
);
  assign req_o = regs.req;
  assign req_is_wr_o = regs.write;
  assign addr_o = AddrW'(regs.addr);
  assign wr_data_o = regs.wdata;
  assign wr_biten_o = {
    {8{regs.wstrb[3]}}, {8{regs.wstrb[2]}}, {8{regs.wstrb[1]}}, {8{regs.wstrb[0]}}
  };
  assign regs.ack = rd_ack_i || wr_ack_i;
  assign regs.rdata = rd_data_i;
endmodule

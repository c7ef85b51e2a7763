// SPDX-License-Identifier: Apache-2.0
/// The host's window into the instruction memory: whole words are written, reads give 0.
/// Answers at once.
module imem_window #(
    parameter  int Bytes = 131072,
    localparam int WordW = $clog2(Bytes) - 2
) (
           reg_if.slave             regs,
    output logic                    we_o,
    output logic        [WordW-1:0] waddr_o,
    output logic        [     31:0] wdata_o
);
  assign we_o = regs.req && regs.write && regs.wstrb == '1;
  assign waddr_o = regs.addr[WordW+1:2];
  assign wdata_o = regs.wdata;
  assign regs.ack = regs.req;
  assign regs.rdata = '0;
  wire unused = &{1'b0, regs.addr};
endmodule

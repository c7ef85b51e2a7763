// SPDX-License-Identifier: Apache-2.0
/// Register accesses to a pipelined table: one waits here for its turn, and its request stays until it is answered.
///
/// `waiting_o` is high from the clock after a request until the clock in which the table takes it up (`take_i`). The table
/// answers some clocks later with `answer_i` and what is read; `ack` and `rdata` follow a clock after that. The request's
/// fields hold until the next one. With `Posted` a write is answered a clock after it was taken up: right for a table that is
/// done with the fields two clocks later. Reset forgets the access under way.
module reg_slot #(
    parameter bit Posted = 0
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,

    // Access to the table.
    output logic        waiting_o,
    output logic        write_o,    // of the whole word; other writes change nothing
    output logic [31:0] addr_o,
    output logic [31:0] wdata_o,
    input  logic        take_i,
    input  logic        answer_i,
    input  logic [31:0] rdata_i
);
  logic [regs.AddrW-1:0] addr_q;
  assign addr_o = 32'(addr_q);
  always_ff @(posedge clk_i) begin
    if (regs.req) begin
      waiting_o <= 1'b1;
      write_o <= regs.write && &regs.wstrb;
      addr_q <= regs.addr;
      wdata_o <= regs.wdata;
    end else if (take_i) waiting_o <= 1'b0;
    regs.ack <= Posted && write_o ? take_i : answer_i;
    if (answer_i) regs.rdata <= rdata_i;
    if (rst_i) begin
      waiting_o <= 1'b0;
      regs.ack  <= 1'b0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// Registers of an edge slot: its settings and counters, by word (`Slot*` of mesh_pkg). Answers 2 clocks later.
///
/// Settings change a clock after their write, and only while the slot does not run. Reset clears them.
module slot_regs
  import mesh_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    reg_if.slave boot,  // offset in the slot's region

    output word_t setting_o[8],  // SlotKind ...
    input  word_t counter_i[8]   // SlotMemReads ...
);
  wire unused = &{1'b0, boot.wstrb};
  logic req_q, write_q;
  logic [4:0] addr_q;
  word_t wdata_q;
  wire counter = addr_q inside {[SlotMemReads : SlotDropped]};
  always_ff @(posedge clk_i) begin
    req_q <= boot.req && !rst_i;
    if (boot.req) begin
      write_q <= boot.write;
      addr_q  <= boot.addr[6:2];
      wdata_q <= boot.wdata;
    end
    if (req_q && write_q && !addr_q[4]) setting_o[addr_q[2:0]] <= wdata_q;
    boot.ack <= req_q && !rst_i;
    if (req_q) boot.rdata <= counter ? counter_i[addr_q[2:0]] : setting_o[addr_q[2:0]];
    if (rst_i) for (int i = 0; i < 8; i++) setting_o[i] <= '0;
  end
endmodule

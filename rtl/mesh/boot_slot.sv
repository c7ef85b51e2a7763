// SPDX-License-Identifier: Apache-2.0
/// Boot port of an edge slot: its settings and counters by word. Answers in the next clock.
module boot_slot
  import mesh_pkg::word_t;
(
    input logic clk_i,
    input logic rst_i,
    reg_if.slave boot,

    output logic        we_o,
    output logic  [4:0] addr_o,
    output word_t       wdata_o,
    input  word_t       rdata_i
);
  assign we_o = boot.req && boot.write;
  assign addr_o = boot.addr[6:2];
  assign wdata_o = boot.wdata;
  always_ff @(posedge clk_i) begin
    boot.ack <= boot.req && !rst_i;
    if (boot.req) boot.rdata <= rdata_i;
  end
endmodule

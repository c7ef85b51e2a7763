// SPDX-License-Identifier: Apache-2.0
/// Boot port of a slot: its settings and counters by word. Answers 2 clocks later.
module boot_slot
  import mesh_pkg::word_t;
(
    input  logic         clk_i,
    input  logic         rst_i,
    // Boot port: offset in the region, answered by a clock of ack.
    input  logic         boot_req_i,
    input  logic         boot_write_i,
    input  logic  [17:0] boot_addr_i,
    input  word_t        boot_wdata_i,
    output logic         boot_ack_o,
    output word_t        boot_rdata_o,

    output logic        we_o,
    output logic  [4:0] addr_o,
    output word_t       wdata_o,
    input  word_t       rdata_i
);
  logic req_q, write_q;
  assign we_o = req_q && write_q;
  always_ff @(posedge clk_i) begin
    req_q <= boot_req_i && !rst_i;
    if (boot_req_i) begin
      write_q <= boot_write_i;
      addr_o  <= boot_addr_i[6:2];
      wdata_o <= boot_wdata_i;
    end
    boot_ack_o <= req_q && !rst_i;
    if (req_q) boot_rdata_o <= rdata_i;
  end
endmodule

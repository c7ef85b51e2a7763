// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
/// imem: a port that asks is served in turn, after at most all others, and nobody is served who did not ask; in the clock after that
/// its word is on the bus, as the host wrote it last.
module imem_formal (
    input logic             clk_i,
    input logic             rst_i,
    input logic [ 2:0]      req_valid_i,
    input logic [ 2:0][1:0] req_addr_i,
    input logic             we_i,
    input logic [ 3:0]      waddr_i,
    input logic [31:0]      wdata_i,
    input logic [ 3:0]      watched_i
);
  `FORMAL_BEGIN
  localparam int Ports = 3;
  logic [Ports-1:0] req_ready, rsp_valid;
  logic [127:0] rsp_data;
  imem #(
      .Bytes(64),
      .Ports(Ports)
  ) dut (
      .clk_i,
      .rst_i,
      .req_valid_i,
      .req_addr_i,
      .req_ready_o(req_ready),
      .rsp_valid_o(rsp_valid),
      .rsp_data_o (rsp_data),
      .we_i,
      .waddr_i,
      .wdata_i
  );

  // A word of the memory that is watched: what it holds, and what was read of it.
  logic [3:0] watched_q;
  logic [31:0] word_q, read_q;
  logic written_q = 1'b0, known_q = 1'b0;
  logic [Ports-1:0] served_q = '0, waits_q = '0;
  logic [Ports-1:0][Ports-1:0] since_q = '0;  // who was served since this one began to wait
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    if (we_i && waddr_i == watched_i) begin
      word_q <= wdata_i;
      written_q <= 1'b1;
    end
    known_q <= 1'b0;
    for (int p = 0; p < Ports; p++) begin
      if (req_ready[p] && req_addr_i[p] == watched_i[3:2]) begin
        known_q <= written_q;
        read_q  <= word_q;
      end
      waits_q[p] <= req_valid_i[p] && !req_ready[p];
      since_q[p] <= req_valid_i[p] && !req_ready[p] ? since_q[p] | req_ready : '0;
    end
    served_q <= req_ready;
    if (!started_q) {waits_q, since_q, served_q, known_q} <= '0;
    if (!started_q) written_q <= 1'b0;
  end
  always_comb begin
    if (started_q) begin
      assume (watched_i == watched_q);
      assume ((waits_q & ~req_valid_i) == '0);
      assert ((req_ready & ~req_valid_i) == '0);
      assert ($onehot0(req_ready));
      assert (|req_ready == |req_valid_i);
      for (int p = 0; p < Ports; p++) assert ((since_q[p] & req_ready) == '0);
      assert (rsp_valid == served_q);
      if (known_q) assert (rsp_data[32*watched_i[1:0]+:32] == read_q);
      cover (since_q[1] == 3'b101 && req_ready[1]);
      cover (known_q && read_q != word_q);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
/// port_merge: what is offered is a user's access and stays until it is taken, one answer outstanding; each answer goes to whom
/// it is for and to nobody else; while a user waits the other has at most one access taken; every clock has an access that could go.
module port_merge_formal
  import core_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] req_valid_i,
    input mem_req_t [1:0] req_i,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input mem_rsp_t rsp_i
);
  `FORMAL_BEGIN
  logic [1:0] ready, answered;
  logic valid;
  mem_req_t offered;
  mem_rsp_t answer;
  logic [1:0] outstanding_q;  // a user's access whose answer is to come
  wire comes = rsp_valid_i && outstanding_q != '0;
  port_merge dut (
      .clk_i,
      .rst_i,
      .req_valid_i,
      .req_i,
      .req_ready_o(ready),
      .rsp_valid_o(answered),
      .rsp_o(answer),
      .req_valid_o(valid),
      .req_o(offered),
      .req_ready_i,
      .rsp_valid_i(comes),
      .rsp_i
  );
  wire [1:0] taken = req_valid_i & ready;

  // Users keep what they ask for until it is taken.
  for (genvar u = 0; u < 2; u++) begin : g_user
    logic waits_q;
    mem_req_t asked_q;
    logic [1:0] passed_q;  // of the other's accesses since this one has waited
    always_ff @(posedge clk_i) begin
      waits_q  <= started_q && req_valid_i[u] && !ready[u];
      asked_q  <= req_i[u];
      passed_q <= !req_valid_i[u] || ready[u] ? '0 : passed_q + 2'(taken[1-u]);
      if (taken[u] && req_i[u].op != Store) outstanding_q[u] <= 1'b1;
      else if (answered[u]) outstanding_q[u] <= 1'b0;
      if (rst_i) begin
        outstanding_q[u] <= 1'b0;
        passed_q <= '0;
      end
    end
    always_comb begin
      if (started_q) begin
        if (waits_q) assume (req_valid_i[u] && req_i[u] == asked_q);
        assert (passed_q <= 2'd1);
        assert (answered[u] == (comes && outstanding_q[u]));
        if (taken[u]) assert (offered == req_i[u]);
      end
    end
  end

  logic offer_q;
  mem_req_t was_q;
  always_ff @(posedge clk_i) begin
    offer_q <= started_q && valid && !req_ready_i;
    was_q   <= offered;
  end
  always_comb begin
    if (started_q) begin
      assert (outstanding_q != 2'b11);
      assert ($countones(taken) == int'(valid && req_ready_i));
      assert (valid == (req_valid_i != '0 && (outstanding_q == '0 || comes)));
      if (offer_q) assert (valid && offered == was_q);
      if (comes) assert (answer == rsp_i);
      cover (taken[0] && comes && outstanding_q[1]);
    end
  end
endmodule

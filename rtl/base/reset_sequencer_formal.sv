// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=24 clocks=async
/// reset_sequencer with two clocks that tick as they please: with a request all resets are there; none is gone before each domain
/// had its clocks since the last request; they go in order.
module reset_sequencer_formal (
    input logic a_clk_i,
    input logic b_clk_i,
    input logic a_rst_i,
    input logic b_rst_i
);
  localparam int Stages = 2;
  logic [1:0] rsts;
  reset_sequencer #(
      .Domains(2),
      .Stages (Stages)
  ) dut (
      .clk_i({b_clk_i, a_clk_i}),
      .rst_i({b_rst_i, a_rst_i}),
      .rst_o(rsts)
  );

  // Clocks of each domain without a request, up to Stages of them.
  wire asked = a_rst_i || b_rst_i;
  logic [1:0] a_had_q, b_had_q;
  always_ff @(posedge a_clk_i or posedge asked) begin
    if (asked) a_had_q <= '0;
    else if (a_had_q != Stages) a_had_q <= a_had_q + 1'b1;
  end
  always_ff @(posedge b_clk_i or posedge asked) begin
    if (asked) b_had_q <= '0;
    else if (b_had_q != Stages) b_had_q <= b_had_q + 1'b1;
  end
  // It begins with a request.
  logic begun_q = 1'b0;
  always_ff @(posedge a_clk_i) begun_q <= 1'b1;
  always_comb begin
    assume (begun_q || asked);
    if (asked) assert (&rsts);
    if (rsts != 2'b11) assert (a_had_q == Stages && b_had_q == Stages);
    if (!rsts[1]) assert (!rsts[0]);
    cover (!asked && rsts == 2'b00);
    cover (!asked && rsts == 2'b10);
  end
endmodule

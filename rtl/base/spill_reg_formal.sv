// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
`include "stream.svh"
/// spill_reg: any beat comes out unharmed and exactly after those that were inside when it went in, in the next clock if
/// nothing is ahead; `ready` does not depend on what happens on the other side in the same clock.
module spill_reg_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       valid_i,
    input logic [1:0] data_i,
    input logic       ready_i,
    input logic       pick_i    // the beat that goes in now is the one watched
);
  `FORMAL_BEGIN
  `STREAM(logic [1:0], in)
  `STREAM(logic [1:0], out)
  spill_reg #(
      .T(logic [1:0])
  ) dut (
      .clk_i,
      .rst_i,
      .in,
      .out
  );
  assign in.valid  = valid_i;
  assign in.data   = data_i;
  assign out.ready = ready_i;
  `FORMAL_STREAM(assert, out, logic [1:0])

  wire  push = in.valid && in.ready;
  wire  pop = out.valid && out.ready;
  logic watched_q = 1'b0;
  logic [1:0] data_q, ahead_q, inside_q = '0;
  always_ff @(posedge clk_i) begin
    if (started_q) inside_q <= inside_q + 2'(push) - 2'(pop);
    if (!watched_q) begin
      watched_q <= started_q && push && pick_i;
      data_q <= in.data;
      ahead_q <= inside_q - 2'(pop);
    end else if (pop) begin
      watched_q <= ahead_q != 0;
      ahead_q   <= ahead_q - 1'b1;
    end
  end
  always_comb begin
    if (started_q) begin
      assert (inside_q <= 2);
      assert (in.ready == (inside_q < 2));
      assert (out.valid == (inside_q != 0));
      if (watched_q) assert (inside_q > ahead_q);
      if (watched_q && pop && ahead_q == 0) assert (out.data == data_q);
      cover (watched_q && pop && ahead_q == 0 && inside_q == 2);
    end
  end
endmodule

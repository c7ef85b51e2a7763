// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
`include "stream.svh"
/// fifo: any beat comes out unharmed and exactly after those that were inside when it went in; what is inside is offered
/// within two clocks; it takes beats as long as it is not full. The registered one does the same in the same clocks.
module fifo_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       valid_i,
    input logic [1:0] data_i,
    input logic       ready_i,
    input logic       pick_i    // the beat that goes in now is the one watched
);
  `FORMAL_BEGIN
  localparam int Depth = 3;
  `STREAM(logic [1:0], in)
  `STREAM(logic [1:0], out)
  logic [1:0] count;
  fifo #(
      .T(logic [1:0]),
      .Depth(Depth)
  ) dut (
      .clk_i,
      .rst_i,
      .in,
      .out,
      .count_o(count)
  );
  `STREAM(logic [1:0], same_in)
  `STREAM(logic [1:0], same_out)
  logic [1:0] same_count;
  fifo #(
      .T(logic [1:0]),
      .Depth(Depth),
      .Registered(1)
  ) i_registered (
      .clk_i,
      .rst_i,
      .in     (same_in),
      .out    (same_out),
      .count_o(same_count)
  );
  assign same_in.valid = valid_i;
  assign same_in.data = data_i;
  assign same_out.ready = ready_i;
  assign in.valid = valid_i;
  assign in.data = data_i;
  assign out.ready = ready_i;
  `FORMAL_STREAM(assert, out, logic [1:0])

  wire push = in.valid && in.ready;
  wire pop = out.valid && out.ready;
  logic watched_q = 1'b0, hidden_q = 1'b0;
  logic [1:0] data_q, ahead_q;
  always_ff @(posedge clk_i) begin
    hidden_q <= started_q && count != 0 && !out.valid;
    if (!watched_q) begin
      watched_q <= started_q && push && pick_i;
      data_q <= in.data;
      ahead_q <= count - 2'(pop);
    end else if (pop) begin
      watched_q <= ahead_q != 0;
      ahead_q   <= ahead_q - 1'b1;
    end
  end
  always_comb begin
    if (started_q) begin
      assert (in.ready == (count < Depth));
      assert (!(hidden_q && !out.valid));
      assert (same_in.ready == in.ready && same_out.valid == out.valid && same_count == count);
      if (out.valid) assert (same_out.data == out.data);
      if (watched_q) assert (count > ahead_q);
      if (watched_q && pop && ahead_q == 0) assert (out.data == data_q);
      cover (watched_q && pop && ahead_q == 0 && count == Depth);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
/// turn_flags: any one flag is set from when its turn set it until it is cleared, whatever becomes of the others; turns come in
/// order. Relies on: nothing is set before `ready_o`, and no flag that is.
module turn_flags_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       set_i,
    input logic       clear_i,
    input logic [1:0] clear_index_i,
    input logic [1:0] watched_i       // the flag looked at
);
  `FORMAL_BEGIN
  localparam int Depth = 4;
  logic ready, flag, next_flag;
  logic [1:0] next;
  turn_flags #(
      .Depth(Depth),
      .Looks(2)
  ) dut (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .set_i,
      .next_o (next),
      .clear_i,
      .clear_index_i,
      .look_i ({next, watched_i}),
      .set_o  ({next_flag, flag})
  );

  logic [Depth-1:0] model_q;
  logic [1:0] turn_q;
  logic [2:0] swept_q;
  always_ff @(posedge clk_i) begin
    if (set_i) begin
      model_q[turn_q] <= 1'b1;
      turn_q <= turn_q + 1'b1;
    end
    if (clear_i) model_q[clear_index_i] <= 1'b0;
    if (!swept_q[2]) swept_q <= swept_q + 1'b1;
    if (rst_i) begin
      model_q <= '0;
      turn_q  <= '0;
      swept_q <= '0;
    end
  end

  always_comb begin
    if (started_q) begin
      if (!ready) assume (!set_i && !clear_i);
      if (model_q[turn_q]) assume (!set_i);
      assert (ready == swept_q[2] && next == turn_q);
      if (ready) assert (flag == model_q[watched_i] && next_flag == model_q[turn_q]);
      cover (ready && model_q == 4'b1010);
      cover (set_i && clear_i && clear_index_i == turn_q);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// What rmw_ram_formal proves of rmw_ram, as a module in its place: for the proofs of the blocks that contain one, which then
// need not look into its forwarding. An operation finds what the one before it on the same word left, zero at first.
// verilog_lint: waive-start module-filename
module rmw_ram #(
    parameter type T = logic,
    parameter int Depth = 256,
    localparam int IndexW = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic              clk_i,
    input  logic              rst_i,
    output logic              ready_o,
    input  logic              start_i,
    input  logic [IndexW-1:0] index_i,
    output T                  now_o,
    input  T                  next_i
);
  T word_q[Depth];
  logic read_q, update_q;
  logic [IndexW-1:0] read_index_q, update_index_q, sweep_q;
  assign now_o = word_q[update_index_q];

  always_ff @(posedge clk_i) begin
    read_q <= start_i;
    update_q <= read_q;
    read_index_q <= index_i;
    update_index_q <= read_index_q;
    if (update_q) word_q[update_index_q] <= next_i;
    if (!ready_o) begin
      sweep_q <= sweep_q + 1'b1;
      ready_o <= sweep_q == IndexW'(Depth - 1);
    end
    if (rst_i) begin
      for (int i = 0; i < Depth; i++) word_q[i] <= '0;
      read_q   <= 1'b0;
      update_q <= 1'b0;
      ready_o  <= 1'b0;
      sweep_q  <= '0;
    end
  end
endmodule

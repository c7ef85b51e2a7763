// SPDX-License-Identifier: Apache-2.0
/// A counter of one clock domain, seen in another: it crosses as a Gray code.
///
/// `add_i` counts one, modulo 2^Width. `count_o` and `gray_o` belong to the source and follow in its next clock, the other two
/// to the destination: they follow two of its clocks later and are never ahead. Both resets must be given together.
module gray_cross #(
    parameter int Width = 8
) (
    input  logic             src_clk_i,
    input  logic             src_rst_i,
    input  logic             add_i,
    output logic [Width-1:0] count_o,
    output logic [Width-1:0] gray_o,
    input  logic             dst_clk_i,
    input  logic             dst_rst_i,
    output logic [Width-1:0] dst_count_o,
    output logic [Width-1:0] dst_gray_o
);
  wire [Width-1:0] next = count_o + 1'b1;
  always_ff @(posedge src_clk_i) begin
    if (add_i) begin
      count_o <= next;
      gray_o  <= next ^ (next >> 1);
    end
    if (src_rst_i) begin
      count_o <= '0;
      gray_o  <= '0;
    end
  end

  sync_2ff #(
      .Width(Width)
  ) i_sync (
      .clk_i(dst_clk_i),
      .rst_i(dst_rst_i),
      .d_i  (gray_o),
      .q_o  (dst_gray_o)
  );

  always_comb begin
    dst_count_o = dst_gray_o;
    for (int shift = 1; shift < Width; shift *= 2) dst_count_o ^= dst_count_o >> shift;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// A counter of one clock domain, seen in another: it crosses as a Gray code.
///
/// `add_i` counts one, modulo 2^Width. `count_o` and `gray_o` belong to the source and follow in its next clock, the other two
/// to the destination: they follow two of its clocks later and are never ahead. No reset touches it, for each domain may be
/// reset alone and the other relies on it: it begins at 0 with the configuration, and what adds to it is held in reset.
module gray_cross #(
    parameter int Width = 8
) (
    input  logic             src_clk_i,
    input  logic             add_i,
    output logic [Width-1:0] count_o,
    output logic [Width-1:0] gray_o,
    input  logic             dst_clk_i,
    output logic [Width-1:0] dst_count_o,
    output logic [Width-1:0] dst_gray_o
);
  logic [Width-1:0] count_q = '0, gray_q = '0;
  assign count_o = count_q;
  assign gray_o  = gray_q;
  wire [Width-1:0] more = count_q + 1'b1;
  // Made anew of the count in every clock: whatever a reset between two clocks of the source did, the two agree again.
  wire [Width-1:0] gray = count_q ^ (count_q >> 1);
  always_ff @(posedge src_clk_i) begin
    if (add_i) count_q <= more;
    gray_q <= add_i ? more ^ (more >> 1) : gray;
  end

  sync_2ff #(
      .Width(Width)
  ) i_sync (
      .clk_i(dst_clk_i),
      .d_i  (gray_q),
      .q_o  (dst_gray_o)
  );

  always_comb begin
    dst_count_o = dst_gray_o;
    for (int shift = 1; shift < Width; shift *= 2) dst_count_o ^= dst_count_o >> shift;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// Counts events of one clock domain in another.
///
/// `add_i` counts in each source clock in which it is high; `count_o` follows modulo 2^32 after about three destination
/// clocks and never skips back. `Width` bits of the count cross, so fewer than 2^Width events may happen in
/// three destination clocks. Each side may be reset alone: the source's reset counts nothing and loses nothing, the
/// destination's begins anew at 0, without what happened three of its clocks before its end.
module count_cross #(
    parameter int Width = 8
) (
    input  logic        src_clk_i,
    input  logic        src_rst_i,
    input  logic        add_i,
    input  logic        dst_clk_i,
    input  logic        dst_rst_i,
    output logic [31:0] count_o
);
  logic [Width-1:0] now, seen_q;
  gray_cross #(
      .Width(Width)
  ) i_count (
      .src_clk_i,
      .add_i(add_i && !src_rst_i),
      .count_o(),
      .gray_o(),
      .dst_clk_i,
      .dst_count_o(now),
      .dst_gray_o()
  );

  wire [Width-1:0] more = now - seen_q;
  always_ff @(posedge dst_clk_i) begin
    seen_q  <= now;
    count_o <= dst_rst_i ? '0 : count_o + 32'(more);
  end
endmodule

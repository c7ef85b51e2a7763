// SPDX-License-Identifier: Apache-2.0
/// Counts events of one clock domain in another.
///
/// `add_i` counts in each source clock in which it is high; `count_o` follows modulo 2^32 after about three destination
/// clocks and never skips back. The counts cross as a Gray code of `Width` bits, so fewer than 2^Width events may happen in
/// three destination clocks. Both resets must be given together.
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
  function automatic logic [Width-1:0] to_gray(logic [Width-1:0] binary);
    return binary ^ (binary >> 1);
  endfunction
  function automatic logic [Width-1:0] from_gray(logic [Width-1:0] gray);
    logic [Width-1:0] binary;
    binary = gray;
    for (int shift = 1; shift < Width; shift *= 2) binary ^= binary >> shift;
    return binary;
  endfunction

  logic [Width-1:0] count_q, gray_q, gray_at_dst, seen_q;
  always_ff @(posedge src_clk_i) begin
    if (add_i) begin
      count_q <= count_q + 1'b1;
      gray_q  <= to_gray(count_q + 1'b1);
    end
    if (src_rst_i) begin
      count_q <= '0;
      gray_q  <= '0;
    end
  end

  sync_2ff #(
      .Width(Width)
  ) i_sync (
      .clk_i(dst_clk_i),
      .rst_i(dst_rst_i),
      .d_i  (gray_q),
      .q_o  (gray_at_dst)
  );

  wire [Width-1:0] now = from_gray(gray_at_dst);
  wire [Width-1:0] more = now - seen_q;
  always_ff @(posedge dst_clk_i) begin
    if (more != '0) begin
      seen_q  <= now;
      count_o <= count_o + 32'(more);
    end
    if (dst_rst_i) begin
      seen_q  <= '0;
      count_o <= '0;
    end
  end
endmodule

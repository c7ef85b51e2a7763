// SPDX-License-Identifier: Apache-2.0
/// Puts up to 64 bytes at any byte address of a DMA RAM (host-nic paper, section II-F).
///
/// Input byte i goes to RAM address `dest_i + i` if start_i <= i < stop_i. The data is rotated once, by dest_i mod 64; the
/// same 64 bytes are offered to the lower and the upper half of the row, and the byte strobes pick the half. What wraps
/// around the upper half belongs to the next row.
/// Latency 2 clocks, one beat a clock, never refused. Reset drops the beats inside.
module dma_read_place
  import dma_pkg::*;
(
    input logic              clk_i,
    input logic              rst_i,
    input logic              valid_i,
    input ram_sel_t          sel_i,
    input ram_addr_t         dest_i,
    input logic      [  1:0] start_i,
    input logic      [  6:0] stop_i,   // 1 ... 64
    input logic      [511:0] data_i,

    output ram_write_t ram_o
);
  localparam int Half = RowBytes / 2;

  // Stage 1: as given.
  logic valid_q;
  ram_sel_t sel_q;
  ram_addr_t dest_q;
  logic [Half-1:0] mask_q;
  logic [8*Half-1:0] data_q;

  always_ff @(posedge clk_i) begin
    valid_q <= valid_i && !rst_i;
    if (valid_i) begin
      sel_q  <= sel_i;
      dest_q <= dest_i;
      mask_q <= ~({Half{1'b1}} << stop_i) & ({Half{1'b1}} << start_i);
      data_q <= data_i;
    end
  end

  // Stage 2: rotated, in three steps of a factor of four.
  logic [8*Half-1:0] by_segment, by_word, by_byte;
  always_comb begin
    by_segment = data_q;
    by_word = data_q;
    by_byte = data_q;
    if (valid_q) begin
      unique case (dest_q[5:4])
        2'd0: by_segment = data_q;
        2'd1: by_segment = {data_q[383:0], data_q[511:384]};
        2'd2: by_segment = {data_q[255:0], data_q[511:256]};
        2'd3: by_segment = {data_q[127:0], data_q[511:128]};
      endcase
      unique case (dest_q[3:2])
        2'd0: by_word = by_segment;
        2'd1: by_word = {by_segment[479:0], by_segment[511:480]};
        2'd2: by_word = {by_segment[447:0], by_segment[511:448]};
        2'd3: by_word = {by_segment[415:0], by_segment[511:416]};
      endcase
      unique case (dest_q[1:0])
        2'd0: by_byte = by_word;
        2'd1: by_byte = {by_word[503:0], by_word[511:504]};
        2'd2: by_byte = {by_word[495:0], by_word[511:496]};
        2'd3: by_byte = {by_word[487:0], by_word[511:488]};
      endcase
    end
  end

  // Bytes that stay in the half of the first one, and those that wrap into the other half.
  wire [2*Half-1:0] spread = {{Half{1'b0}}, mask_q} << dest_q[5:0];
  wire [2*Half-1:0] strb = dest_q[6] ? {spread[Half-1:0], spread[2*Half-1:Half]} : spread;
  wire row_addr_t row = dest_q[RamAddrW-1:$clog2(RowBytes)];

  logic [Segs-1:0] seg_valid_q;
  logic [2*Half-1:0] strb_q;
  logic [8*Half-1:0] rotated_q;
  row_addr_t low_row_q, high_row_q;
  ram_sel_t ram_sel_q;

  always_ff @(posedge clk_i) begin
    seg_valid_q <= '0;
    if (valid_q) begin
      for (int i = 0; i < Segs; i++) seg_valid_q[i] <= |strb[i*SegBytes+:SegBytes];
      strb_q <= strb;
      rotated_q <= by_byte;
      ram_sel_q <= sel_q;
      high_row_q <= row;
      // Only when the beat starts in the upper half does it reach the lower half of another row.
      low_row_q <= row + RowAddrW'(dest_q[6]);
    end
    if (rst_i) seg_valid_q <= '0;
  end

  assign ram_o.sel   = ram_sel_q;
  assign ram_o.valid = seg_valid_q;
  assign ram_o.row   = {{(Segs / 2) {high_row_q}}, {(Segs / 2) {low_row_q}}};
  assign ram_o.strb  = strb_q;
  assign ram_o.data  = {rotated_q, rotated_q};
endmodule

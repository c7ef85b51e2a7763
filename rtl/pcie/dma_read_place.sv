// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Puts up to a beat of bytes at any byte address of a DMA RAM (host-nic paper, section II-F).
///
/// Input byte i goes to RAM address `dest_i + i` if start_i <= i < stop_i. The data is rotated once, by dest_i modulo the beat;
/// the parts of a row that are a beat apart are offered the same bytes, and the byte strobes pick the part. What wraps around
/// the end of the row belongs to the next one. The bytes lie in different segments of the RAM: with 128-byte beats those from the
/// segment of the first one to the end are at most a row.
/// Latency 2 clocks, one beat a clock, never refused. Reset drops the beats inside.
module dma_read_place
  import dma_pkg::*;
#(
    parameter  int BeatBytes = 64,                    // or 128: RowBytes
    localparam int Bits      = 8 * BeatBytes,
    localparam int StopW     = $clog2(BeatBytes + 1)
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  valid_i,
    input ram_sel_t              sel_i,
    input ram_addr_t             dest_i,
    input logic      [      1:0] start_i,
    input logic      [StopW-1:0] stop_i,   // 1 ... BeatBytes
    input logic      [ Bits-1:0] data_i,

    output ram_write_t ram_o
);
  localparam int Copies = RowBytes / BeatBytes;

  // Stage 1: as given.
  logic valid_q;
  ram_sel_t sel_q;
  ram_addr_t dest_q;
  logic [BeatBytes-1:0] mask_q;
  logic [Bits-1:0] data_q;

  always_ff @(posedge clk_i) begin
    valid_q <= valid_i && !rst_i;
    if (valid_i) begin
      sel_q  <= sel_i;
      dest_q <= dest_i;
      mask_q <= ~({BeatBytes{1'b1}} << stop_i) & ({BeatBytes{1'b1}} << start_i);
      data_q <= data_i;
    end
  end

  // Stage 2: rotated, in steps of a factor of four.
  logic [Bits-1:0] by_half, by_segment, by_word, by_byte;
  always_comb begin
    by_half = data_q;
    by_segment = data_q;
    by_word = data_q;
    by_byte = data_q;
    if (valid_q) begin
      if (Copies == 1 && dest_q[6]) by_half = {data_q[Bits/2-1:0], data_q[Bits-1:Bits/2]};
      unique case (dest_q[5:4])
        2'd0: by_segment = by_half;
        2'd1: by_segment = {by_half[Bits-129:0], by_half[Bits-1:Bits-128]};
        2'd2: by_segment = {by_half[Bits-257:0], by_half[Bits-1:Bits-256]};
        2'd3: by_segment = {by_half[Bits-385:0], by_half[Bits-1:Bits-384]};
      endcase
      unique case (dest_q[3:2])
        2'd0: by_word = by_segment;
        2'd1: by_word = {by_segment[Bits-33:0], by_segment[Bits-1:Bits-32]};
        2'd2: by_word = {by_segment[Bits-65:0], by_segment[Bits-1:Bits-64]};
        2'd3: by_word = {by_segment[Bits-97:0], by_segment[Bits-1:Bits-96]};
      endcase
      unique case (dest_q[1:0])
        2'd0: by_byte = by_word;
        2'd1: by_byte = {by_word[Bits-9:0], by_word[Bits-1:Bits-8]};
        2'd2: by_byte = {by_word[Bits-17:0], by_word[Bits-1:Bits-16]};
        2'd3: by_byte = {by_word[Bits-25:0], by_word[Bits-1:Bits-24]};
      endcase
    end
  end

  // Bytes that stay in the row of the first one, and those that wrap into the next.
  wire [2*RowBytes-1:0] spread = (2 * RowBytes)'(mask_q) << dest_q[6:0];
  wire [RowBytes-1:0] strb = spread[RowBytes-1:0] | spread[2*RowBytes-1:RowBytes];
  wire row_addr_t row = dest_q[RamAddrW-1:$clog2(RowBytes)];

  logic [Segs-1:0] seg_valid_q, wrapped_q;
  logic [RowBytes-1:0] strb_q;
  logic [Bits-1:0] rotated_q;
  row_addr_t row_q, next_row_q;
  ram_sel_t ram_sel_q;

  always_ff @(posedge clk_i) begin
    seg_valid_q <= '0;
    if (valid_q) begin
      for (int i = 0; i < Segs; i++) seg_valid_q[i] <= |strb[i*SegBytes+:SegBytes];
      for (int i = 0; i < Segs; i++) wrapped_q[i] <= 3'(i) < dest_q[6:4];
      strb_q <= strb;
      rotated_q <= by_byte;
      ram_sel_q <= sel_q;
      row_q <= row;
      next_row_q <= row + 1'b1;
    end
    if (rst_i) seg_valid_q <= '0;
  end

  assign ram_o.sel   = ram_sel_q;
  assign ram_o.valid = seg_valid_q;
  assign ram_o.strb  = strb_q;
  assign ram_o.data  = {Copies{rotated_q}};
  for (genvar s = 0; s < Segs; s++) begin : g_row
    assign ram_o.row[s] = wrapped_q[s] ? next_row_q : row_q;
  end

  // The segment of the first byte is not that of bytes behind the row's end as well.
  `ASSERT(OneRowASegment, valid_q |-> (spread[2*RowBytes-1:RowBytes] >> {dest_q[6:4], 4'd0}) == '0)
endmodule

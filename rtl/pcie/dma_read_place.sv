// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Puts up to a beat of bytes at any byte address of a DMA RAM (host-nic paper, section II-F).
///
/// Input byte i goes to RAM address `dest_i + i` if start_i <= i < stop_i. The data is rotated once, by dest_i modulo the beat;
/// the parts of a row that are a beat apart are offered the same bytes, and the byte strobes pick the part. What wraps around
/// the end of the row belongs to the next one. The bytes lie in different segments of the RAM: with 128-byte beats those from the
/// segment of the first one to the end are at most a row. `upper_i`: the step's bytes are those of the beat's upper half, which
/// count from 0.
/// Latency 2 clocks, one beat a clock, never refused. Reset drops the beats inside.
module dma_read_place
  import dma_pkg::*;
#(
    parameter  int BeatBytes = 64,                     // or 128: RowBytes
    localparam int Bits      = 8 * BeatBytes,
    localparam int StopW     = $clog2(BeatBytes + 1),
    localparam int TurnW     = $clog2(BeatBytes)
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  valid_i,
    input ram_sel_t              sel_i,
    input ram_addr_t             dest_i,
    input logic      [      1:0] start_i,
    input logic      [StopW-1:0] stop_i,   // 1 ... BeatBytes
    input logic                  upper_i,
    input logic      [ Bits-1:0] data_i,

    output ram_write_t ram_o
);
  localparam int Copies = RowBytes / BeatBytes;

  // Stage 1: as given.
  logic valid_q;
  ram_sel_t sel_q;
  ram_addr_t dest_q;
  logic [1:0] start_q;
  logic [StopW-1:0] stop_q;
  logic [TurnW-1:0] turn_q, turn_n_q;
  logic [ Bits-1:0] data_q;
  wire  [TurnW-1:0] turn = TurnW'({dest_i[6] != upper_i, dest_i[5:0]});

  always_ff @(posedge clk_i) begin
    valid_q <= valid_i && !rst_i;
    if (valid_i) begin
      sel_q <= sel_i;
      dest_q <= dest_i;
      start_q <= start_i;
      stop_q <= stop_i;
      turn_q <= turn;
      turn_n_q <= ~turn;
      data_q <= data_i;
    end
  end

  // Stage 2: rotated.
  logic [Bits-1:0] turned;
  rotate #(
      .Lanes(BeatBytes)
  ) i_rotate (
      .valid_i (valid_q),
      .turn_i  (turn_q),
      .turn_n_i(turn_n_q),
      .data_i  (data_q),
      .data_o  (turned)
  );

  // Bytes of the two rows from the first one to the last: what wraps around the end of the row is in both ranges' complement.
  wire [7:0] from = 8'(dest_q[6:0]) + 8'(start_q), to = 8'(dest_q[6:0]) + 8'(stop_q);
  wire [RowBytes-1:0] below_from = ~({RowBytes{1'b1}} << from[6:0]), below_to = ~({RowBytes{1'b1}} << to[6:0]);
  wire [RowBytes-1:0] strb = from[7] != to[7] ? ~below_from | below_to : ~below_from & below_to;
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
      rotated_q <= turned;
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
  `ASSERT(OneRowASegment, valid_q |-> to <= 8'(RowBytes) + {1'b0, dest_q[6:4], 4'd0})
endmodule

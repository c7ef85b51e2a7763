// SPDX-License-Identifier: Apache-2.0
/// Where pieces of blocks and progress entries go in host memory, and what an entry tells of its ring.
///
/// A piece comes with the ring's counts as they are in the next clock: no block is opened nor packet added in the clock of an
/// entry. Work for its link comes 3 clocks later; `under_way_o` is high between. One a clock, nothing is ever refused.
module cap_work
  import cap_pkg::*;
#(
    parameter int Rings = 8
) (
    input logic clk_i,
    input logic rst_i,
    input pack_cfg_t cfg_i,
    input cap_piece_t piece_i,
    input logic [Rings-1:0][31:0] opened_i,
    input logic [Rings-1:0][31:0] packets_i,
    output logic [MaxLinks-1:0] under_way_o,
    output logic [MaxLinks-1:0] work_valid_o,
    output work_t work_o
);
  localparam int RingIndexW = Rings > 1 ? $clog2(Rings) : 1;

  // First what the ring's counts are, then which block that is, then where it lies.
  cap_piece_t piece_q, counted_q;
  wire [RingIndexW-1:0] ring = piece_q.ring[RingIndexW-1:0];
  wire [31:0] opened = opened_i[ring];
  wire [31:0] block_mask = ~(32'hffff_ffff << cfg_i.log_blocks);
  logic [31:0] index_q;

  always_ff @(posedge clk_i) begin
    piece_q <= piece_i;
    counted_q <= piece_q;
    counted_q.work.entry.first <= packets_i[ring] - 32'(piece_q.work.entry.packets);
    counted_q.work.entry.seq <= 31'(opened);
    index_q <= (32'(ring) << cfg_i.log_blocks) | ((opened - 1'b1) & block_mask);
    work_valid_o <= '0;
    if (counted_q.valid) begin
      work_valid_o[counted_q.link] <= !rst_i;
      work_o <= counted_q.work;
      work_o.addr <= (counted_q.work.is_entry ? cfg_i.progress : cfg_i.base) +
          (counted_q.work.is_entry ? 64'({index_q, 4'd0}) : (64'(index_q) << cfg_i.log_block_bytes) | 64'(counted_q.off));
    end
    if (rst_i) {piece_q.valid, counted_q.valid} <= '0;
  end
  always_comb begin
    under_way_o = work_valid_o;
    if (piece_q.valid) under_way_o[piece_q.link] = 1'b1;
    if (counted_q.valid) under_way_o[counted_q.link] = 1'b1;
  end
endmodule

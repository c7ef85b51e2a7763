// SPDX-License-Identifier: Apache-2.0
/// Where pieces of blocks and progress entries go in host memory, and what an entry tells of its ring.
///
/// A piece comes with the ring's counts as they are in the next clock: no block is opened nor packet added in the clock of an
/// entry. Work for its link comes 2 clocks later; `under_way_o` is high between. One a clock, nothing is ever refused.
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

  cap_piece_t piece_q;
  wire [RingIndexW-1:0] ring = piece_q.ring[RingIndexW-1:0];
  wire [31:0] block_mask = ~(32'hffff_ffff << cfg_i.log_blocks);
  wire [31:0] index = (32'(ring) << cfg_i.log_blocks) | ((opened_i[ring] - 1'b1) & block_mask);

  always_ff @(posedge clk_i) begin
    piece_q <= piece_i;
    work_valid_o <= '0;
    if (piece_q.valid) begin
      work_valid_o[piece_q.link] <= !rst_i;
      work_o <= piece_q.work;
      work_o.entry.first <= packets_i[ring] - 32'(piece_q.work.entry.packets);
      work_o.entry.seq <= 31'(opened_i[ring]);
      work_o.addr <= piece_q.work.is_entry ? cfg_i.progress + 64'({index, 4'd0})
                                           : cfg_i.base + (64'(index) << cfg_i.log_block_bytes) + 64'(piece_q.off);
    end
    if (rst_i) piece_q.valid <= 1'b0;
  end
  always_comb begin
    under_way_o = work_valid_o;
    if (piece_q.valid) under_way_o[piece_q.link] = 1'b1;
  end
endmodule

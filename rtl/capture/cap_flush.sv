// SPDX-License-Identifier: Apache-2.0
/// The packer's timer: looks at the open block of one ring each clock, and stays with the one that is due until its turn has come.
///
/// Due is a block with bytes that no entry covers `flush_clocks` after their first packet (eight times as long while its link has
/// more than FlushQueued pieces queued), one whose link is down, and each one when capture ends and no record waits.
module cap_flush
  import cap_pkg::*;
#(
    parameter int Rings = 8,
    parameter int FlushQueued = 8,
    localparam int RingIndexW = Rings > 1 ? $clog2(Rings) : 1
) (
    input logic clk_i,
    input logic rst_i,
    input pack_cfg_t cfg_i,
    input logic [MaxLinks-1:0] ok_i,
    input logic [MaxLinks-1:0][QueuedW-1:0] queued_i,
    input logic waits_i,  // a record
    input logic [23:0] time_i,

    // The block of ring `scan_o`.
    output logic [RingIndexW-1:0] scan_o,
    input logic open_i,
    input logic link_i,
    input logic untold_i,  // no entry covers all of it
    input logic [23:0] since_i,

    output logic due_o,
    output logic [RingIndexW-1:0] ring_o,  // that is due
    input logic taken_i
);
  logic [RingIndexW-1:0] scan_q, scanned_ring_q;
  logic open_q, link_q, untold_q;
  logic [23:0] since_q;
  wire [23:0] age = time_i - since_q;
  wire [23:0] patience = queued_i[link_q] > QueuedW'(FlushQueued) ? {1'b0, cfg_i.flush_clocks, 3'd0}
                                                                  : 24'(cfg_i.flush_clocks);
  wire stale = untold_q && age >= patience;
  wire ends = !ok_i[link_q] || (!cfg_i.enable && !waits_i);
  assign scan_o = scan_q;

  always_ff @(posedge clk_i) begin
    if (!due_o) begin
      due_o <= open_q && (stale || ends);
      ring_o <= scanned_ring_q;
      {open_q, link_q, untold_q, since_q} <= {open_i, link_i, untold_i, since_i};
      scanned_ring_q <= scan_q;
      scan_q <= (scan_q == RingIndexW'(Rings - 1)) ? '0 : scan_q + 1'b1;
    end else if (taken_i) begin
      due_o  <= 1'b0;
      open_q <= 1'b0;
      scan_q <= scanned_ring_q;
    end
    if (rst_i) begin
      due_o  <= 1'b0;
      scan_q <= '0;
      open_q <= 1'b0;
    end
  end
endmodule

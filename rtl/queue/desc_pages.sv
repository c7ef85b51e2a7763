// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Pages of a turn of a stream queue (descriptor fetch): where in host memory its granules lie, piece by piece.
///
/// `load_i` begins a turn of `granules_i` granules from `addr_i` (in granules) and index `index_i` on. From the next clock on its first piece
/// is shown: `addr_o` and `len_o` in bytes, `index_o` the ring's index behind it (before wrapping). `step_i` goes on to the next, up to
/// that which `ends_o`. No piece crosses a multiple of 4096 bytes. `load_i` counts more than `step_i`.
module desc_pages
  import queue_pkg::*;
(
    input  logic             clk_i,
    input  logic             load_i,
    input  logic      [59:0] addr_i,
    input  turn_t            granules_i,
    input  ring_ptr_t        index_i,
    input  logic             step_i,
    output logic      [63:0] addr_o,
    output logic      [15:0] len_o,
    output ring_ptr_t        index_o,
    output logic             ends_o
);
  localparam int PageW = $clog2(PageGranules);

  typedef struct packed {
    logic [59:0] addr;
    turn_t       here;   // granules of this piece,
    turn_t       left;   // and behind it
    ring_ptr_t   index;
    logic        ends;
  } piece_t;

  /// The piece of `left` granules that begins at `addr`.
  function automatic piece_t piece(logic [59:0] addr, turn_t left, ring_ptr_t index);
    piece_t p;
    turn_t  page;
    page = turn_t'(PageGranules) - turn_t'(addr[PageW-1:0]);
    p.addr = addr;
    p.ends = left <= page;
    p.here = p.ends ? left : page;
    p.left = left - p.here;
    p.index = index + 16'(p.here);
    return p;
  endfunction

  // Both are made ready before it is known which one it is.
  piece_t now_q;
  wire piece_t first = piece(addr_i, granules_i, index_i);
  wire piece_t next = piece({now_q.addr[59:PageW] + 1'b1, PageW'(0)}, now_q.left, now_q.index);
  always_ff @(posedge clk_i) begin
    if (load_i) now_q <= first;
    else if (step_i) now_q <= next;
  end
  assign addr_o  = {now_q.addr, 4'd0};
  assign len_o   = 16'({now_q.here, 4'd0});
  assign index_o = now_q.index;
  assign ends_o  = now_q.ends;
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Splits DMA read requests into chunks, each one read request TLP.
///
/// A chunk is at most the maximum read request size, crosses no 4 kB boundary and, unless it is the last of its request,
/// ends on a multiple of 128 bytes: all chunks but the first are then aligned to any read completion boundary. A request of
/// no bytes becomes one chunk of no bytes. Latency 2 clocks, one chunk a clock without gaps between requests, full
/// back-pressure. Reset drops what is held.
module dma_read_split
  import dma_pkg::*;
(
    input logic               clk_i,
    input logic               rst_i,
    input logic         [2:0] max_read_request_i,  // 128 << n bytes, n up to 5
          stream_if.snk       req,                 // dma_req_t
          stream_if.src       chunk                // dma_chunk_t
);
  dma_req_t cur_q;
  logic cur_full_q;
  dma_chunk_t chunk_q, next;
  logic chunk_full_q;

  // How far the next chunk may reach, known a clock before it is cut: bytes to the end of the page, and of those the ones that
  // one read takes.
  logic [12:0] max_q;  // maximum read request in bytes
  logic [12:0] to_page_q, most_q;
  logic page_cut_q;
  // Of a new request.
  wire [12:0] new_page = 13'h1000 - 13'(req.data.host_addr[11:0]);
  wire [12:0] new_limit = max_q - 13'(req.data.host_addr[6:0]);
  wire new_cut = new_page <= new_limit;
  // Of what is left of the one under way, which begins on a multiple of 128 bytes.
  wire [12:0] next_page = page_cut_q ? 13'h1000 : to_page_q - most_q;
  wire next_cut = next_page <= max_q;

  always_comb begin
    next.host_addr = cur_q.host_addr;
    next.sel       = cur_q.sel;
    next.ram_addr  = cur_q.ram_addr;
    next.last      = cur_q.len <= {3'd0, most_q};
    next.len       = next.last ? cur_q.len[12:0] : most_q;
    next.relaxed   = cur_q.relaxed;
  end

  wire step = cur_full_q && (!chunk_full_q || chunk.ready);

  assign req.ready   = !cur_full_q || (step && next.last);
  assign chunk.valid = chunk_full_q;
  assign chunk.data  = chunk_q;

  always_ff @(posedge clk_i) begin
    // The two reserved codes above 4 kB are taken as 4 kB.
    max_q <= 13'd128 << ((max_read_request_i > 3'd5) ? 3'd5 : max_read_request_i);
    if (step) begin
      chunk_q <= next;
      chunk_full_q <= 1'b1;
    end else if (chunk.ready) begin
      chunk_full_q <= 1'b0;
    end
    if (req.ready) begin
      cur_full_q <= req.valid;
      if (req.valid) cur_q <= req.data;
      to_page_q  <= new_page;
      page_cut_q <= new_cut;
      most_q     <= new_cut ? new_page : new_limit;
    end else if (step) begin
      if (page_cut_q) cur_q.host_addr <= {cur_q.host_addr[63:12] + 1'b1, 12'h0};
      else cur_q.host_addr[11:0] <= {cur_q.host_addr[11:7] + max_q[11:7], 7'h0};
      cur_q.ram_addr <= cur_q.ram_addr + RamAddrW'(most_q);
      cur_q.len <= cur_q.len - 16'(most_q);
      to_page_q <= next_page;
      page_cut_q <= next_cut;
      most_q <= next_cut ? next_page : max_q;
    end
    if (rst_i) begin
      cur_full_q   <= 1'b0;
      chunk_full_q <= 1'b0;
    end
  end

  `ASSERT(NoPageCrossing, chunk.valid |-> 13'(chunk_q.host_addr[11:0]) + chunk_q.len <= 13'h1000)
endmodule

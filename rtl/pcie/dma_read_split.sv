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

  // The two reserved codes above 4 kB are taken as 4 kB.
  wire [12:0] max_bytes = 13'd128 << ((max_read_request_i > 3'd5) ? 3'd5 : max_read_request_i);
  wire [12:0] to_page = 13'h1000 - {1'b0, cur_q.host_addr[11:0]};
  wire [12:0] to_limit = max_bytes - {6'd0, cur_q.host_addr[6:0]};
  wire [12:0] most = (to_page < to_limit) ? to_page : to_limit;

  always_comb begin
    next.host_addr = cur_q.host_addr;
    next.sel       = cur_q.sel;
    next.ram_addr  = cur_q.ram_addr;
    next.last      = cur_q.len <= {3'd0, most};
    next.len       = next.last ? cur_q.len[12:0] : most;
    next.relaxed   = cur_q.relaxed;
  end

  wire step = cur_full_q && (!chunk_full_q || chunk.ready);

  assign req.ready   = !cur_full_q || (step && next.last);
  assign chunk.valid = chunk_full_q;
  assign chunk.data  = chunk_q;

  always_ff @(posedge clk_i) begin
    if (step) begin
      chunk_q <= next;
      chunk_full_q <= 1'b1;
      cur_q.host_addr <= cur_q.host_addr + 64'(most);
      cur_q.ram_addr <= cur_q.ram_addr + RamAddrW'(most);
      cur_q.len <= cur_q.len - 16'(most);
      if (next.last) cur_full_q <= 1'b0;
    end else if (chunk.ready) begin
      chunk_full_q <= 1'b0;
    end
    if (req.valid && req.ready) begin
      cur_q <= req.data;
      cur_full_q <= 1'b1;
    end
    if (rst_i) begin
      cur_full_q   <= 1'b0;
      chunk_full_q <= 1'b0;
    end
  end

  `ASSERT(NoPageCrossing, chunk.valid |-> 13'(chunk_q.host_addr[11:0]) + chunk_q.len <= 13'h1000)
endmodule

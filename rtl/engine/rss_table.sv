// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Indirection table of receive-side scaling: the flow hash picks the receive queue (host-nic paper, section II-E).
///
/// With `Functions` each PCI function has `Entries` / `Functions` of its own, one's behind the other's, and `Queues` receive queues, which its entries
/// number from 0 on: whatever they say, the frame goes to a queue of the function that it is for (function_filter). The low bits of the hash pick one of `Entries`; a frame without a hash (type 0) goes by entry 0. One whose
/// flow is steered (flow_table) goes to that queue instead. Latency 3 clocks, one frame
/// a clock, full back-pressure; frames pass otherwise unchanged. `regs`: entry n at byte 4n, queue in bits 15:0; a changed entry
/// counts for frames from the answer on. A write takes 1 clock, a read 2 and one of them from the frames; neither waits for
/// `out`. Entries that do not exist read 0; writes to them, and of a queue from `Queues` on, are ignored and pulse `refused_o`. Reset
/// writes zeros into all entries, which takes `Entries` clocks in which frames and register accesses wait.
module rss_table
  import engine_pkg::*, queue_pkg::*;
#(
    parameter int Entries = 128,
    parameter int Queues  = 65536,  // a power of two: so much of a queue as a write brings is enough to judge it
    parameter int Functions = 1
) (
    input logic clk_i,
    input logic rst_i,

    reg_if.slave regs,
    output logic refused_o,

    stream_if.snk in,  // rx_meta_t
    stream_if.src out  // rx_meta_t with `queue`
);
  if (Entries < 2 || Entries > 65536 || Entries != 2 ** $clog2(Entries)) begin : g_bad_parameter
    $fatal(1, "rss_table: Entries %0d is not a power of two from 2 to 65536", Entries);
  end
  if (Queues < 1 || Queues > 65536 || Queues != 2 ** $clog2(Queues)) begin : g_bad_queues
    $fatal(1, "rss_table: Queues %0d is not a power of two up to 65536", Queues);
  end
  if (Functions < 1 || Functions > eth_pkg::MostOwners || Functions != 2 ** $clog2(
          Functions
      ) || Functions * 2 > Entries) begin : g_bad_functions
    $fatal(1, "rss_table: Functions %0d is no power of two, or there are too many", Functions);
  end
  localparam int IndexW = $clog2(Entries), HashW = $clog2(Entries / Functions);
  localparam int Depth = 4;  // frames on their way
  typedef logic [IndexW-1:0] index_t;

  logic [IndexW:0] clear_q;  // next entry to clear; Entries when all are
  wire cleared = clear_q[IndexW];

  // Registers. A request that comes while the table is being cleared is kept.
  logic pending_q, write_q, known_q, reading_q, read_known_q;
  index_t addr_q;
  logic [15:0] wdata_q;
  logic [1:0] strb_q;
  wire taken = pending_q && cleared;
  wire reading = taken && !write_q;
  wire writing = taken && write_q;
  localparam logic [15:0] NoQueue = ~16'(Queues - 1);  // bits that no queue has

  // The table: a frame, or a register, reads it.
  rx_meta_t meta, meta_q;
  logic   valid_q;
  queue_t entry;
  assign meta = in.data;
  wire [HashW-1:0] hashed = meta.info.hash_type == '0 ? '0 : HashW'(meta.info.hash);
  wire index_t index = index_t'(hashed) | (Functions > 1 ? index_t'(32'(meta.info.owner) << HashW) : '0);
  wire looks = in.valid && in.ready;
  ram_sdp #(
      .Width(16),
      .Depth(Entries),
      .Lanes(2)
  ) i_table (
      .clk_i,
      .we_i   (!cleared ? 2'b11 : strb_q & {2{writing && known_q}}),
      .waddr_i(cleared ? addr_q : clear_q[IndexW-1:0]),
      .wdata_i(cleared ? wdata_q : '0),
      .re_i   (looks || reading),
      .raddr_i(reading ? addr_q : index),
      .rdata_o(entry)
  );

  // What has been looked up finds room.
  `STREAM(rx_meta_t, found)
  logic [$clog2(Depth+1)-1:0] count;
  assign in.ready = cleared && !reading && 32'(count) + 32'(valid_q) < Depth;
  assign found.valid = valid_q;
  always_comb begin
    found.data = meta_q;
    found.data.queue = entry;
    if (Functions > 1)
      found.data.queue = entry | queue_t'(32'(meta_q.info.owner) << $clog2(Queues));
    if (meta_q.info.steered.hit) found.data.queue = meta_q.info.steered.queue;
  end
  fifo #(
      .T(rx_meta_t),
      .Depth(Depth)
  ) i_found (
      .clk_i,
      .rst_i,
      .in(found),
      .out,
      .count_o(count)
  );

  assign regs.ack   = writing || reading_q;
  assign regs.rdata = read_known_q ? 32'(entry) : '0;
  assign refused_o  = writing && !known_q;

  wire unused = &{1'b0, regs.wdata, regs.wstrb, meta};
  always_ff @(posedge clk_i) begin
    valid_q <= looks;
    if (looks) meta_q <= in.data;
    reading_q <= reading;
    read_known_q <= known_q;
    if (!cleared) clear_q <= clear_q + 1'b1;
    if (regs.req) begin
      pending_q <= 1'b1;
      write_q <= regs.write;
      known_q <= 32'(regs.addr) >> 2 < Entries &&
          !(regs.write && |(regs.wdata[15:0] & NoQueue & {{8{regs.wstrb[1]}}, {8{regs.wstrb[0]}}}));
      addr_q <= regs.addr[IndexW+1:2];
      wdata_q <= regs.wdata[15:0];
      strb_q <= regs.wstrb[1:0];
    end else if (taken) begin
      pending_q <= 1'b0;
    end
    if (rst_i) begin
      clear_q   <= '0;
      valid_q   <= 1'b0;
      pending_q <= 1'b0;
      reading_q <= 1'b0;
    end
  end

  `ASSERT(OneAtATime, regs.req |-> !pending_q && !reading_q)
  `ASSERT(FoundHasRoom, found.valid |-> found.ready)
endmodule

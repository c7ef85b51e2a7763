// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Indirection table of receive-side scaling: the flow hash picks the receive queue (host-nic paper, section II-E).
///
/// The low seven bits of the hash pick one of 128 entries; a frame without a hash (type 0) goes by entry 0. Latency 1 clock,
/// one frame a clock, full back-pressure; frames pass otherwise unchanged. `regs`: entry n at byte 4n, queue in bits 15:0,
/// answered in the next clock; a changed entry counts for frames from then on. Reset writes zeros into all entries, which
/// takes 128 clocks in which frames and register accesses wait.
module rss_table
  import engine_pkg::*, queue_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    reg_if.slave regs,

    stream_if.snk in,  // rx_meta_t
    stream_if.src out  // rx_meta_t with `queue`
);
  localparam int Entries = 128;
  localparam int IndexW = $clog2(Entries);

  wire unused = &{1'b0, regs.addr, regs.wdata, regs.wstrb};

  queue_t mem[Entries];
  logic [IndexW:0] clear_q;  // next entry to clear; Entries when all are
  wire cleared = clear_q[IndexW];

  // Frames.
  `STREAM(rx_meta_t, found)
  rx_meta_t meta;
  wire [IndexW-1:0] index = (meta.info.hash_type == '0) ? '0 : meta.info.hash[IndexW-1:0];
  assign meta = in.data;
  assign in.ready = cleared && found.ready;
  // Offered only when it moves: the entry could change while it waits.
  assign found.valid = in.valid && in.ready;
  always_comb begin
    found.data = meta;
    found.data.queue = mem[index];
  end
  spill_reg #(
      .T(rx_meta_t)
  ) i_out (
      .clk_i,
      .rst_i,
      .in(found),
      .out
  );

  // Registers. A request that comes while the table is being cleared is kept.
  logic pending_q, write_q;
  logic [IndexW-1:0] addr_q;
  logic [15:0] wdata_q;
  logic [1:0] strb_q;
  queue_t old;
  assign old = mem[addr_q];
  wire answer = pending_q && cleared;
  assign regs.ack   = answer;
  assign regs.rdata = 32'(old);

  wire we = !cleared || (answer && write_q);
  wire [IndexW-1:0] waddr = cleared ? addr_q : clear_q[IndexW-1:0];
  queue_t wdata;
  always_comb begin
    wdata = '0;
    if (cleared)
      wdata = {strb_q[1] ? wdata_q[15:8] : old[15:8], strb_q[0] ? wdata_q[7:0] : old[7:0]};
  end

  always_ff @(posedge clk_i) begin
    if (we) mem[waddr] <= wdata;
    if (!cleared) clear_q <= clear_q + 1'b1;
    if (regs.req) begin
      pending_q <= 1'b1;
      write_q <= regs.write;
      addr_q <= regs.addr[IndexW+1:2];
      wdata_q <= regs.wdata[15:0];
      strb_q <= regs.wstrb[1:0];
    end else if (answer) begin
      pending_q <= 1'b0;
    end
    if (rst_i) begin
      clear_q   <= '0;
      pending_q <= 1'b0;
    end
  end

  `ASSERT(OneAtATime, regs.req |-> !pending_q)
endmodule

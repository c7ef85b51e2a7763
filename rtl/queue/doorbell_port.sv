// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Register port of descriptor queues: doorbells go onto a stream, all other accesses to `rest`, in their order.
///
/// A doorbell (a write of a whole Producer word, queue_pkg) is answered in its own clock and waits in a FIFO of `Depth`; when
/// that is full, the one that took the last place is answered when there is another. So one is taken a clock, whatever the
/// queues are doing, as long as there is room. Any other access goes on when all doorbells before it have been taken from
/// `rung`: latency 1 clock, answered with the answer of `rest`. Reset forgets everything.
module doorbell_port
  import queue_pkg::*;
#(
    parameter int Depth = 32
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,
    reg_if.master rest,
    // rung_t.
    stream_if.src rung
);
  localparam int QueueBits = $bits(queue_t);
  logic [regs.AddrW-1:0] addr_q;
  logic [31:0] wdata_q;
  logic [3:0] wstrb_q;
  logic write_q, held_q, owed_q;
  logic [$clog2(Depth+1)-1:0] count;
  `STREAM(rung_t, doorbell)

  wire [31:0] addr = 32'(regs.addr);
  wire bell = regs.write && regs.wstrb == '1 && addr[4:2] == QRegProducer && addr >> (5 + QueueBits) == '0;
  assign doorbell.valid = regs.req && bell;
  assign doorbell.data  = '{queue: addr[5+:QueueBits], producer: regs.wdata[15:0]};
  fifo #(
      .T(rung_t),
      .Depth(Depth)
  ) i_doorbells (
      .clk_i,
      .rst_i,
      .in(doorbell),
      .out(rung),
      .count_o(count)
  );

  assign rest.req   = held_q && count == '0;
  assign rest.write = write_q;
  assign rest.addr  = addr_q;
  assign rest.wdata = wdata_q;
  assign rest.wstrb = wstrb_q;
  // There is room for another behind this one, or by now.
  wire room = 32'(count) < Depth - 1;
  assign regs.ack   = (doorbell.valid && room) || (owed_q && doorbell.ready) || rest.ack;
  assign regs.rdata = rest.rdata;

  always_ff @(posedge clk_i) begin
    if (regs.req) begin
      addr_q  <= regs.addr;
      wdata_q <= regs.wdata;
      wstrb_q <= regs.wstrb;
      write_q <= regs.write;
    end
    held_q <= (regs.req && !bell) || (held_q && !rest.req);
    owed_q <= (doorbell.valid && !room) || (owed_q && !doorbell.ready);
    if (rst_i) begin
      held_q <= 1'b0;
      owed_q <= 1'b0;
    end
  end

  `ASSERT(DoorbellHasRoom, doorbell.valid |-> doorbell.ready)
  `ASSERT(OneAccess, regs.req |-> !held_q && !owed_q)
endmodule

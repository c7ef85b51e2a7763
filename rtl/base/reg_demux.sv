// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Register accesses to `N` slaves by address.
///
/// Slave i answers addresses with (addr & ~(Size[i]-1)) == Base[i]; Size[i] is a power of two and Base[i] a multiple of it.
/// The slave sees the offset within its region. One access is with the slaves at a time, and order is kept. Writes are posted:
/// answered when they go to their slave, so that the next can come while that one is at work. Latency 1 clock each way. An
/// address without a slave reads 0, ignores writes, and pulses `unmapped_o`.
/// `AtOnce`: a write is answered in its own clock (`in.ack` follows `in.req`) as long as another access would find a place here,
/// else when there is one: slaves that answer at once get a write a clock. `Held` accesses find a place: a slave that takes its time gets
/// so many in a burst.
module reg_demux #(
    parameter int N = 2,
    parameter int AddrW = 26,
    parameter bit AtOnce = 0,
    parameter int Held = 2,
    parameter logic [N-1:0][AddrW-1:0] Base = '0,
    parameter logic [N-1:0][AddrW-1:0] Size = '0
) (
    input  logic         clk_i,
    input  logic         rst_i,
           reg_if.slave  in,
           reg_if.master out       [N],
    output logic         unmapped_o
);
  typedef struct packed {
    logic [N-1:0]     target;
    logic             write;
    logic [AddrW-1:0] addr;
    logic [31:0]      wdata;
    logic [3:0]       wstrb;
  } access_t;
  `STREAM(access_t, taken)
  `STREAM(access_t, held)
  logic [N-1:0] hit, ack;
  logic busy_q, reading_q, answer_q, posted_ack;
  logic [31:0] rdata_q;
  logic [31:0] rdata[N];
  access_t now;
  assign now = held.data;

  // The access held here goes on when the slaves are done with the one before.
  wire go = held.valid && !busy_q;
  wire nobody = go && now.target == '0;
  wire answered = |ack;
  wire read_done = (answered || nobody) && (go ? !now.write : reading_q);

  for (genvar i = 0; i < N; i++) begin : g_slave
    if ($countones(Size[i]) != 1 || (Base[i] & (Size[i] - 1'b1)) != '0) begin : g_bad_parameter
      $fatal(1, "reg_demux: region %0d has base %h, size %h", i, Base[i], Size[i]);
    end
    assign hit[i] = (in.addr & ~(Size[i] - 1'b1)) == Base[i];
    assign out[i].req = go && now.target[i];
    assign out[i].write = now.write;
    assign out[i].addr = now.addr & (Size[i] - 1'b1);
    assign out[i].wdata = now.wdata;
    assign out[i].wstrb = now.wstrb;
    assign ack[i] = out[i].ack;
    assign rdata[i] = out[i].rdata;
  end

  assign taken.valid = in.req;
  assign taken.data = '{
          target: hit,
          write: in.write,
          addr: in.addr,
          wdata: in.wdata,
          wstrb: in.wstrb
      };
  // There is room for what comes after a write when the one before it has gone on, or there are places for more; `free` says so of one
  // that has waited for it.
  logic room, free;
  if (Held == 2) begin : g_two
    `SPILL(access_t, i_held, taken, held)
    assign room = !held.valid || go;
    assign free = go;
  end else begin : g_more
    logic [$clog2(Held+1)-1:0] count;
    fifo #(
        .T(access_t),
        .Depth(Held)
    ) i_held (
        .clk_i,
        .rst_i,
        .in(taken),
        .out(held),
        .count_o(count)
    );
    assign room = 32'(count) < Held - 1;
    assign free = taken.ready;
  end
  assign held.ready = !busy_q;

  reg_posted i_posted (
      .clk_i,
      .rst_i,
      .req_i  (in.req),
      .write_i(AtOnce && in.write),
      .room_i (room),
      .free_i (free),
      .ack_o  (posted_ack)
  );
  assign in.ack = answer_q || posted_ack;
  assign in.rdata = rdata_q;
  assign unmapped_o = nobody;

  always_ff @(posedge clk_i) begin
    busy_q <= (busy_q || (go && !nobody)) && !answered;
    if (go) reading_q <= !now.write;
    answer_q <= read_done || (!AtOnce && go && now.write);
    rdata_q  <= '0;
    for (int i = 0; i < N; i++) if (read_done && ack[i]) rdata_q <= rdata[i];
    if (rst_i) begin
      busy_q   <= 1'b0;
      answer_q <= 1'b0;
    end
  end

  `ASSERT(OneRegionAtMost, in.req |-> $onehot0(hit))
  `ASSERT(OneAccess, in.req |-> taken.ready)
  `ASSERT(AnswersAreWanted, answered |-> busy_q || go)
endmodule

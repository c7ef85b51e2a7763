// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// What every transmit scheduler knows of its queues: which have work, and which of these gets a turn (host-nic paper, II-E).
///
/// A queue that is enabled, has work and has no turn gets one: `turn_o` with the queue, for a clock. It keeps the turn until
/// `granted` tells what its grant found. A doorbell (queue_t) while a queue has a turn or is disabled is remembered. One `granted`
/// a clock; a doorbell or a register access takes one from it; doorbells and `granted` take turns where both come every clock.
/// `regs`: one word a queue, bit 0 enable, bit 1 active (RO), 15:8 its share, 31:16 packets in flight (RO); of a share that is wider the rest is at bit 2. A queue disabled while it
/// has a turn keeps that, but gets no other. Queues that do not exist are ignored.
/// After reset all queues are disabled and idle; this takes `Queues` clocks, in which nothing is accepted.
module sched_queues
  import queue_pkg::*;
#(
    parameter int Queues = 256,
    parameter int CountW = 16,  // of the packets granted to a queue, modulo 2^CountW
    parameter int ShareW = 0,  // of a queue's share: its class, its weight; 0: it has none
    localparam int IndexW = $clog2(Queues),
    localparam int OutW = ShareW > 0 ? ShareW : 1
) (
    input logic         clk_i,
    input logic         rst_i,
          reg_if.slave  regs,
          stream_if.snk doorbell,  // queue_t
          stream_if.snk granted,   // granted_t

    // Tables beside this one: `ready_i` when they are; a register access begins, and two clocks later is answered.
    input  logic              ready_i,
    output logic              ready_o,
    output logic              access_o,
    output logic              access_known_o,
    output logic [IndexW-1:0] access_queue_o,
    input  logic [      15:0] in_flight_i,

    // The queue looked at, and what becomes of it.
    output logic              turn_o,
    output logic              counted_o,  // `granted_o` is new
    output logic [IndexW-1:0] queue_o,
    output logic [CountW-1:0] granted_o,  // packets granted to it
    output logic [CountW-1:0] before_o,   // and before
    output logic [  OutW-1:0] share_o
);
  if (Queues < 2 || Queues > 65536 || ShareW > 14) begin : g_bad_parameter
    $fatal(1, "sched_queues: Queues %0d is not 2 ... 65536, or ShareW %0d over 14", Queues, ShareW);
  end

  typedef logic [IndexW-1:0] index_t;
  typedef struct packed {
    logic [CountW-1:0] granted;  // packets ever granted
    logic              work;     // there may be work that no turn is waiting for
    logic              active;   // has a turn: waits for its grant, or that is on its way
    logic              enable;
  } state_t;

  typedef struct packed {
    logic access;
    logic         ring;
    logic         granted;
    logic         known;
    queue_t       queue;
    logic         more;
    logic [3:0]   count;
  } op_t;

  // The register access under way.
  logic waiting, write, access, state_ready, share_ready;
  logic [31:0] addr, wdata, rdata;
  wire [31:0] access_queue = 32'(addr[31:2]);

  op_t op, read_q, update_q;
  assign ready_o = state_ready && share_ready && ready_i;
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(wdata),
      .take_i(access),
      .answer_i(update_q.access),
      .rdata_i(rdata)
  );
  assign access = waiting && ready_o;
  assign doorbell.ready = ready_o && !access && !(read_q.ring && granted.valid);
  assign granted.ready = ready_o && !access && !(doorbell.valid && doorbell.ready);
  assign access_o = access;
  assign access_known_o = op.known;
  assign access_queue_o = index_t'(op.queue);

  always_comb begin
    op = '0;
    op.access = access;
    op.ring = doorbell.valid && doorbell.ready;
    op.granted = granted.valid && granted.ready;
    op.queue = access ? access_queue[15:0] : op.ring ? doorbell.data : granted.data.queue;
    op.known = access ? access_queue < Queues : 32'(op.queue) < Queues;
    op.more = granted.data.more && granted.data.status == DeqOk;
    op.count = granted.data.count;
  end

  state_t now, next;
  wire start = (op.access || op.ring || op.granted) && op.known;
  rmw_ram #(
      .T(state_t),
      .Depth(Queues)
  ) i_state (
      .clk_i,
      .rst_i,
      .ready_o(state_ready),
      .start_i(start),
      .index_i(index_t'(op.queue)),
      .now_o  (now),
      .next_i (next)
  );

  logic [OutW-1:0] share;
  if (ShareW > 0) begin : g_share
    logic [ShareW-1:0] share_now;
    wire [13:0] wide = {wdata[7:2], wdata[15:8]};
    assign share = update_q.access && write ? wide[ShareW-1:0] : share_now;
    rmw_ram #(
        .T(logic [ShareW-1:0]),
        .Depth(Queues)
    ) i_share (
        .clk_i,
        .rst_i,
        .ready_o(share_ready),
        .start_i(start),
        .index_i(index_t'(op.queue)),
        .now_o  (share_now),
        .next_i (share)
    );
  end else begin : g_no_share
    assign share_ready = 1'b1;
    assign share = '0;
  end

  // The update. A queue that is enabled and has work gets a turn if it has none.
  always_comb begin
    next = now;
    if (update_q.ring) next.work = 1'b1;
    if (update_q.granted) begin
      next.granted = now.granted + CountW'(update_q.count);
      next.active  = 1'b0;
      next.work    = now.work || update_q.more;
    end
    if (update_q.access && write) next.enable = wdata[0];
    turn_o = (update_q.access || update_q.ring || update_q.granted) && update_q.known && next.enable &&
        next.work && !next.active;
    if (turn_o) begin
      next.active = 1'b1;
      next.work   = 1'b0;
    end
  end
  assign counted_o = update_q.granted && update_q.known;
  assign queue_o   = index_t'(update_q.queue);
  assign granted_o = next.granted;
  assign before_o  = now.granted;
  assign share_o   = share;

  wire [13:0] share_read = 14'(ShareW > 0 ? share : '0);
  assign rdata = update_q.known ? {in_flight_i, share_read[7:0], share_read[13:8], now.active, now.enable} : '0;

  always_ff @(posedge clk_i) begin
    read_q   <= op;
    update_q <= read_q;
    if (rst_i) begin
      read_q   <= '0;
      update_q <= '0;
    end
  end

  `ASSERT(GrantedWasActive, update_q.granted && update_q.known |-> now.active)
  `ASSERT(OneAccess, regs.req |-> !(waiting || read_q.access || update_q.access))
endmodule

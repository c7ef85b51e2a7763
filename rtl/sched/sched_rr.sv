// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Round-robin transmit scheduler (host-nic paper, section II-E).
///
/// Queues with work wait in a FIFO; the one at its head gets a grant of up to `max_burst_i` packets, and goes to the tail
/// again once `granted` has told that there is more. So a queue with work is granted once in each round of the others.
/// A queue with `max_inflight_i` packets granted and not yet `sent` keeps its turn but gets no grant. A doorbell (queue_t)
/// while a queue is active or disabled is remembered. One grant, one `granted` and one `sent` a clock, so a packet a clock
/// even at bursts of one; a doorbell or a register access takes a clock from `granted` (and an access one from `sent`).
/// Doorbells and `granted` take turns where both come every clock.
/// `regs`: one word a queue, bit 0 enable, bit 1 active (RO), 31:16 packets in flight (RO). A queue disabled while it waits
/// gets its grant but no other. At most one grant of a queue is on its way. Queues that do not exist are ignored.
/// After reset all queues are disabled and idle; this takes `Queues` clocks, in which nothing is accepted.
module sched_rr
  import queue_pkg::*;
#(
    parameter int Queues = 256
) (
    input logic                clk_i,
    input logic                rst_i,
    input logic         [ 3:0] max_burst_i,     // 1 ... 8
    input logic         [15:0] max_inflight_i,  // 1 or more
          reg_if.slave         regs,
    // Queues with new work: queue_t.
          stream_if.snk        doorbell,
    // grant_t out; granted_t back for each, in any order; sent_t for each packet, after that.
          stream_if.src        grant,
          stream_if.snk        granted,
          stream_if.snk        sent
);
  if (Queues < 2 || Queues > 65536) begin : g_bad_parameter
    $fatal(1, "sched_rr: Queues %0d is not 2 ... 65536", Queues);
  end

  localparam int IndexW = $clog2(Queues);
  typedef logic [IndexW-1:0] index_t;
  typedef logic [15:0] packets_t;

  typedef struct packed {
    packets_t granted;  // packets ever granted
    logic     work;     // there may be work that no turn is waiting for
    logic     active;   // has a turn: waits in the FIFO, or its grant is on its way
    logic     enable;
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
  logic waiting, write, access;
  logic [31:0] addr, wdata, rdata;
  wire [31:0] access_queue = 32'(addr[31:2]);

  logic state_ready, sent_ready;
  op_t op, read_q, update_q;
  wire ready = state_ready && sent_ready;
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
  assign access = waiting && ready;
  assign doorbell.ready = ready && !access && !(read_q.ring && granted.valid);
  assign granted.ready = ready && !access && !(doorbell.valid && doorbell.ready);
  assign sent.ready = ready && !access;

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

  // Packets ever sent, in a RAM of its own so that it can count beside the grants.
  packets_t sent_now, sent_next;
  logic sent_read_q, sent_update_q;
  index_t sent_read_index_q, sent_index_q;
  wire sending = sent.valid && sent.ready && 32'(sent.data.queue) < Queues;
  rmw_ram #(
      .T(packets_t),
      .Depth(Queues)
  ) i_sent (
      .clk_i,
      .rst_i,
      .ready_o(sent_ready),
      .start_i(access ? op.known : sending),
      .index_i(access ? index_t'(op.queue) : index_t'(sent.data.queue)),
      .now_o  (sent_now),
      .next_i (sent_next)
  );
  assign sent_next = sent_update_q ? sent_now + 1'b1 : sent_now;

  // The update. A queue that is enabled and has work gets a turn if it has none.
  logic take_turn;
  always_comb begin
    next = now;
    if (update_q.ring) next.work = 1'b1;
    if (update_q.granted) begin
      next.granted = now.granted + 16'(update_q.count);
      next.active  = 1'b0;
      next.work    = now.work || update_q.more;
    end
    if (update_q.access && write) next.enable = wdata[0];
    take_turn = (update_q.access || update_q.ring || update_q.granted) && update_q.known &&
        next.enable && next.work && !next.active;
    if (take_turn) begin
      next.active = 1'b1;
      next.work   = 1'b0;
    end
  end

  // Copies of both counts for the head of the FIFO. They may be a few clocks old: `granted` of a queue with a turn does not
  // change, and an old `sent` only makes it wait a little longer.
  index_t head_q;
  packets_t head_granted, head_sent;
  logic load, pass_by;
  index_t loaded;
  `STREAM(index_t, turn_in)
  `STREAM(index_t, turn)
  logic sweep_q;
  index_t sweep_index_q;
  logic [$clog2(Queues+1)-1:0] turns;

  ram_sdp #(
      .Width(16),
      .Depth(Queues)
  ) i_granted_copy (
      .clk_i,
      .we_i   (sweep_q || (update_q.granted && update_q.known)),
      .waddr_i(sweep_q ? sweep_index_q : index_t'(update_q.queue)),
      .wdata_i(sweep_q ? '0 : next.granted),
      .re_i   (load),
      .raddr_i(loaded),
      .rdata_o(head_granted)
  );
  ram_sdp #(
      .Width(16),
      .Depth(Queues)
  ) i_sent_copy (
      .clk_i,
      .we_i   (sweep_q || sent_update_q),
      .waddr_i(sweep_q ? sweep_index_q : sent_index_q),
      .wdata_i(sweep_q ? '0 : sent_next),
      .re_i   (load),
      .raddr_i(loaded),
      .rdata_o(head_sent)
  );

  // The FIFO of turns has room for every queue, and each is there at most once.
  fifo #(
      .T(index_t),
      .Depth(Queues)
  ) i_turns (
      .clk_i,
      .rst_i,
      .in(turn_in),
      .out(turn),
      .count_o(turns)
  );

  // Head: counts being looked at. Then the offer of a grant. A turn does not go through the FIFO when that is empty; its
  // `granted` is then only being written and comes along.
  logic head_valid_q, grant_valid_q, head_new_q;
  packets_t head_new_granted_q;
  grant_t   grant_q;
  packets_t in_flight, room;
  assign in_flight = (head_new_q ? head_new_granted_q : head_granted) - head_sent;
  assign room = max_inflight_i - in_flight;
  wire may_send = in_flight < max_inflight_i;
  wire grant_free = !grant_valid_q || grant.ready;
  // A queue at its limit goes to the tail, when no other needs the way there.
  wire goes_back = head_valid_q && !may_send && !take_turn;
  wire leaves = head_valid_q && (may_send ? grant_free : goes_back);
  wire head_free = !head_valid_q || leaves;
  assign pass_by = take_turn && head_free && turns == '0;
  assign load = head_free && (turn.valid || pass_by);
  assign loaded = pass_by ? index_t'(update_q.queue) : turn.data;
  assign turn.ready = head_free;
  assign turn_in.valid = (take_turn && !pass_by) || goes_back;
  assign turn_in.data = take_turn ? index_t'(update_q.queue) : head_q;

  assign grant.valid = grant_valid_q;
  assign grant.data = grant_q;


  assign rdata = update_q.known ? {now.granted - sent_now, 14'd0, now.active, now.enable} : '0;

  always_ff @(posedge clk_i) begin
    read_q <= op;
    update_q <= read_q;
    sent_read_q <= sending;
    sent_update_q <= sent_read_q;
    sent_read_index_q <= index_t'(sent.data.queue);
    sent_index_q <= sent_read_index_q;

    if (load) begin
      head_q <= loaded;
      head_new_q <= pass_by;
      head_new_granted_q <= next.granted;
    end
    head_valid_q <= load || (head_valid_q && !leaves);
    if (leaves && may_send) begin
      grant_valid_q <= 1'b1;
      grant_q <= '{
          queue: 16'(head_q),
          max: room < 16'(max_burst_i) ? room[3:0] : max_burst_i,
          granules: '0
      };
    end else if (grant.ready) grant_valid_q <= 1'b0;

    sweep_index_q <= sweep_q ? sweep_index_q + 1'b1 : '0;
    if (sweep_index_q == index_t'(Queues - 1)) sweep_q <= 1'b0;

    if (rst_i) begin
      read_q <= '0;
      update_q <= '0;
      sent_read_q <= 1'b0;
      sent_update_q <= 1'b0;
      head_valid_q <= 1'b0;
      grant_valid_q <= 1'b0;
      sweep_q <= 1'b1;
      sweep_index_q <= '0;
    end
  end

  `ASSERT(TurnHasRoom, turn_in.valid |-> turn_in.ready)
  `ASSERT(GrantedWasActive, update_q.granted && update_q.known |-> now.active)
  `ASSERT(OneAccess, regs.req |-> !(waiting || read_q.access || update_q.access))
endmodule

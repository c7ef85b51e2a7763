// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Descriptor queues: rings in host memory, their pointers here (host-nic paper, section II-D).
///
/// The host sets a queue up through `regs` (queue_pkg QReg*, 32 bytes a queue) and rings its doorbell, which comes by `rung`
/// (doorbell_port); `deq_req` hands out slots in order, `commit` counts them finished, `stop` stops a queue. One dequeue and one
/// commit a clock, also when all are of one queue. A doorbell a clock while there is neither, else one in two: a doorbell, a
/// stop or a register access takes a clock from both. Answers come 5 clocks later at the earliest, in order.
/// `deq_rsp` and `doorbell` may wait for as long as they like: only what needs room there waits with them. Nothing waits for
/// `error`: a stop that finds no place there is told later (the queues are looked through, one every four clocks), unless
/// the host has enabled the queue again before.
/// - A ring starts empty when BaseLo is written. Base, Cq and the sizes are written while the queue is disabled, or are
///   ignored; wait until all slots handed out are finished before changing them. Only whole-word writes count.
/// - A doorbell outside the ring stops the queue (ErrDoorbell) and is not taken. Writing enable again lets it go on.
/// - With `Streams` a queue can be a stream (queue_pkg), and a dequeue is answered with one slot. Of one that is filled it takes all of
///   `granules` or finds it empty; what is finished is counted in frames, and a doorbell offers granules, at most a ring ahead of what was
///   taken. Of one that is emptied it takes a turn: all that is ready up to the next multiple of TurnGranules or the ring's end.
/// - With `Peeks` a dequeue of none (`max` 0) tells what is ready, and hands nothing out; `doorbell` is given only queues of descriptors
///   in which no such peek has found anything since BaseLo was written.
/// - With `Shared` several ports dequeue from a queue (`deq_port_i`), one at a time: while slots handed out to a port are not
///   finished another one's dequeue finds nothing. Nor does the first one's from then on; when all are finished the queue's
///   doorbell rings again, and the port that has waited longest comes first, if it asks. So packets of a queue begin in its order,
///   whichever ports they leave by. Dequeues and commits then take turns where both come every clock.
/// - With `Functions` each has its share of the queues, in their order; Base has 52 bits, and addresses of slots say whose they are (pcie_pkg). A
///   completion queue of another function, as Cq may name one at first, is none.
/// - Queues that do not exist are stopped for `deq_req`, read as zero, and are ignored otherwise.
/// After reset all queues are disabled and empty (Base and Cq are what they were); this takes `Queues` clocks, in which nothing
/// is accepted.
module queue_manager
  import queue_pkg::*;
#(
    parameter int Queues = 256,
    parameter streams_t Streams = StreamsNone,
    parameter bit Peeks = 1'b0,
    parameter bit Shared = 1'b0,
    parameter int Functions = 1
) (
    input  logic         clk_i,
    input  logic         rst_i,
    // Host registers, byte address queue * 32 + word * 4.
           reg_if.slave  regs,
    // Doorbells: rung_t.
           stream_if.snk rung,
    // Slots: deq_req_t, deq_rsp_t, commit_t.
           stream_if.snk deq_req,
    input  port_t        deq_port_i,  // with `Shared`: whose it is
           stream_if.src deq_rsp,
           stream_if.snk commit,
    // Stop a queue: queue_error_t.
           stream_if.snk stop,
    // To the scheduler: queue_t that has work. To the event path: queue_error_t, one for each stop.
           stream_if.src doorbell,
           stream_if.src error,
    // A register write was not taken as it was, for one clock; doorbells count as errors.
    output logic         refused_o,
    // There was a stream since reset.
    output logic         streams_o
);
  if (Queues < 1 || Queues > 65536) begin : g_bad_parameter
    $fatal(1, "queue_manager: Queues %0d is not 1 ... 65536", Queues);
  end
  if (Peeks && Streams == StreamsEmptied) begin : g_no_peeks
    $fatal(1, "queue_manager: Peeks are for queues that the device fills");
  end
  if (Shared && (Peeks || Streams == StreamsFilled)) begin : g_not_shared
    $fatal(1, "queue_manager: Shared is for queues that the device empties");
  end

  localparam int IndexW = Queues > 1 ? $clog2(Queues) : 1;
  typedef logic [IndexW-1:0] index_t;
  localparam int RspDepth = 8;
  localparam int BellDepth = 8;

  typedef struct packed {
    logic [51:0] base;
    queue_t      cq;
    logic        stream;
  } place_t;

  typedef struct packed {
    logic [3:0] log_size;
    logic [1:0] log_block;
    ring_ptr_t  producer;
    ring_ptr_t  taken;      // handed out
    logic [3:0] code;       // error_e
    logic       peeked;     // a peek has found slots since BaseLo was written
    logic       untold;     // stopped, and `error` had no place for it
    logic       stopped;
    logic       enable;
  } state_t;

  /// With `Shared`.
  typedef struct packed {
    port_t owner;     // of what was handed out last
    logic  wanted;    // another port was told that there is nothing,
    port_t claimant;  // this one
  } claim_t;

  typedef struct packed {
    logic         deq;
    logic         commit;    // Shared
    logic         stop;
    logic         ring;
    logic         scan;
    logic access;
    logic         known;     // the queue exists
    queue_t       queue;
    logic [3:0]   max;
    granules_t    granules;
    error_e       code;
    port_t        port;
  } op_t;

  // The register access under way.
  logic waiting, write, access;
  logic [31:0] addr, wdata, rdata;
  wire [ 2:0] word = addr[4:2];
  wire [31:0] access_queue = 32'(addr[31:5]);

  // What may start.
  logic ready, finished_ready, claim_ready;
  op_t op, read_q, update_q;
  logic [$clog2(RspDepth+1)-1:0] rsp_count;
  logic [$clog2(BellDepth+1)-1:0] bell_count;
  wire all_ready = ready && finished_ready;
  reg_slot #(
      .Posted(1)
  ) i_slot (
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
  // Up to four answers, or doorbells, may still be on their way to their FIFO.
  logic rsp_room_q, bell_room_q;
  // Stops that are to be told, and how long ago the last queue was looked at for one.
  logic [IndexW:0] untold_q;
  logic more_untold_q, less_untold_q;  // one is to be counted
  logic [1:0] since_scan_q;
  index_t scan_q;
  logic error_valid_q, scan_due_q;
  // Accesses go first, then stops; doorbells and what the engines ask for take turns. Whose turn it is does not wait for `all_ready`,
  // without which nothing starts.
  wire access_turn = waiting && !scan_due_q && (!write || bell_room_q);
  wire other = access_turn || stop.valid || scan_due_q;
  wire rung_may = !other && bell_room_q && !(read_q.ring && ((deq_req.valid && rsp_room_q) || commit.valid));
  wire ring_turn = rung.valid && rung_may;
  wire scan = all_ready && scan_due_q;
  wire ringing = all_ready && ring_turn;
  assign access = all_ready && access_turn;
  assign stop.ready = all_ready && !access_turn && !scan_due_q;
  assign rung.ready = all_ready && rung_may;
  // A shared queue's commits look at all of its state, and ring; so do dequeues.
  wire commit_turn = commit.valid && !(read_q.commit && deq_req.valid && rsp_room_q);
  wire may_deq = !Shared || (bell_room_q && !commit_turn);
  assign deq_req.ready = all_ready && !other && !ring_turn && rsp_room_q && may_deq;
  wire may_commit = !Shared || (!other && bell_room_q && commit_turn);
  assign commit.ready = all_ready && !access_turn && !ring_turn && may_commit;

  always_comb begin
    op = '0;
    op.max = deq_req.data.max;
    op.granules = deq_req.data.granules;
    op.code = stop.data.code;
    op.access = access;
    op.scan = scan;
    op.stop = stop.valid && stop.ready;
    op.ring = ringing;
    op.deq = deq_req.valid && deq_req.ready;
    op.commit = Shared && commit.valid && commit.ready;
    op.port = Shared ? deq_port_i : '0;
    op.queue = access_turn ? access_queue[15:0] : scan_due_q ? 16'(scan_q) : stop.valid ? stop.data.queue :
        ring_turn ? rung.data.queue : Shared && commit_turn ? commit.data.queue : deq_req.data.queue;
    op.known = access_turn ? access_queue < Queues : 32'(op.queue) < Queues;
  end

  state_t now, next;
  wire start = |{op.access, op.scan, op.stop, op.ring, op.deq, op.commit} && op.known;
  rmw_ram #(
      .T(state_t),
      .Depth(Queues)
  ) i_state (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .start_i(start),
      .index_i(index_t'(op.queue)),
      .now_o  (now),
      .next_i (next)
  );

  claim_t claim, next_claim;
  if (Shared) begin : g_claim
    rmw_ram #(
        .T(claim_t),
        .Depth(Queues)
    ) i_claim (
        .clk_i,
        .rst_i,
        .ready_o(claim_ready),
        .start_i(start),
        .index_i(index_t'(op.queue)),
        .now_o  (claim),
        .next_i (next_claim)
    );
  end else begin : g_no_claim
    wire unused = &{1'b0, next_claim};
    assign claim_ready = 1'b1;
    assign claim = '0;
  end

  // Where the ring is and where its completions go. Written while the queue is disabled, by one access at a time: what comes
  // right behind such a write, and sees what was there before, hands nothing out.
  logic writing_q;
  place_t place_read, place_q, next_place;
  wire write_place = writing_q && !now.enable;
  localparam bit Any = Streams != StreamsNone;
  localparam bit Filled = Streams == StreamsFilled;
  localparam bit Emptied = Streams == StreamsEmptied;
  localparam int HiW = Any ? 33 : 32;
  logic [HiW-1:0] hi_read;
  wire [31:0] base_hi = Functions > 1 ? {12'd0, wdata[19:0]} : wdata;
  ram_sdp #(
      .Width(HiW),
      .Depth(Queues)
  ) i_base_hi (
      .clk_i,
      .we_i   (write_place && (word == QRegBaseHi || (Any && word == QRegBaseLo))),
      .waddr_i(index_t'(update_q.queue)),
      .wdata_i(Any ? HiW'({next_place.stream, next_place.base[51:20]}) : HiW'(base_hi)),
      .re_i   (1'b1),
      .raddr_i(index_t'(op.queue)),
      .rdata_o(hi_read)
  );
  assign place_read.base[51:20] = hi_read[31:0];
  assign place_read.stream = Any && hi_read[HiW-1];
  ram_sdp #(
      .Width(36),
      .Depth(Queues)
  ) i_base_lo (
      .clk_i,
      .we_i   (write_place),
      .waddr_i(index_t'(update_q.queue)),
      .wdata_i({next_place.base[19:0], next_place.cq}),
      .re_i   (1'b1),
      .raddr_i(index_t'(op.queue)),
      .rdata_o({place_read.base[19:0], place_read.cq})
  );
  always_comb begin
    next_place = place_q;
    if (word == QRegBaseHi) next_place.base[51:20] = base_hi;
    if (word == QRegBaseLo) {next_place.base[19:0], next_place.stream} = {wdata[31:12], wdata[0]};
    if (word == QRegCq) next_place.cq = wdata[15:0];
  end

  // Slots finished with, in a RAM of their own so that a commit fits beside a dequeue.
  ring_ptr_t finished, next_finished;
  logic [8:0] commit_count_read_q, commit_count_q;  // 0 where no commit is
  wire committing = commit.valid && commit.ready;
  rmw_ram #(
      .T(ring_ptr_t),
      .Depth(Queues)
  ) i_finished (
      .clk_i,
      .rst_i,
      .ready_o(finished_ready),
      .start_i(
      Shared ? start : access || ringing ? op.known : committing && 32'(commit.data.queue) < Queues
      ),
      .index_i(Shared || access_turn || ring_turn ? index_t'(op.queue) : index_t'(commit.data.queue)),
      .now_o(finished),
      .next_i(next_finished)
  );

  // The update: what a dequeue gets.
  wire stream = Any && place_q.stream;
  deq_status_e status;
  logic [2:0] before_end;
  logic [3:0] left, most, count;
  ring_ptr_t available, took, taken_after, turn_mask, turn_left;
  logic turn_whole, more;
  // Shared: what is not finished is another port's, or another port has asked for the queue.
  wire under_way = Shared && now.taken != finished;
  wire others = Shared && (under_way ? claim.owner != update_q.port || claim.wanted :
                           claim.wanted && claim.claimant != update_q.port);
  logic kept;  // from a port that would have had it
  always_comb begin
    available = now.producer - now.taken;
    // To the end of the block of eight descriptors.
    before_end = ~now.taken[2:0] & 3'(3'd7 >> now.log_block);
    left = {1'b0, before_end} + 4'd1;
    most = update_q.max <= {1'b0, before_end} ? update_q.max : left;
    count = available < 16'(most) ? available[3:0] : most;
    status = now.producer == now.taken ? DeqEmpty : DeqOk;
    if (stream) count = 4'd1;
    if (Filled && stream) begin
      if (available < 16'(update_q.granules)) status = DeqEmpty;
      if (update_q.granules == '0) status = DeqStopped;
    end
    if (!update_q.known || !now.enable || now.stopped) status = DeqStopped;
    kept = others && status == DeqOk;
    if (kept) status = DeqEmpty;
    if (status != DeqOk) count = '0;
    took = 16'(count);
    if (Filled && stream) took = status == DeqOk ? 16'(update_q.granules) : '0;
    taken_after = now.taken + took;
    more = available != took;
    // A turn: to the end of the ring, or a multiple of TurnGranules.
    turn_mask = 16'(TurnGranules - 1);
    if (now.log_size < 4'($clog2(TurnGranules))) turn_mask = ~(16'hFFFF << now.log_size);
    turn_left  = (~now.taken & turn_mask) + 16'd1;
    turn_whole = available <= turn_left;
    if (Emptied && stream && status == DeqOk) begin
      taken_after = turn_whole ? now.producer : (now.taken | turn_mask) + 16'd1;
      more = !turn_whole;
    end
  end

  // The update: what becomes of the state. What is written is known a clock ahead.
  logic to_control_q;
  ring_ptr_t producer_read_q, producer_q;  // of a doorbell
  wire to_write = read_q.access && read_q.known && write;

  // The producer lies between what was handed out and one ring ahead of what is finished.
  wire [3:0] new_log_size = wdata[7:4] < 4'd3 ? 4'd3 : wdata[7:4];
  wire [3:0] log_size = to_control_q && !now.enable ? new_log_size : now.log_size;
  wire ring_ptr_t offer = update_q.ring ? producer_q : now.producer;
  wire ring_ptr_t offered = offer - finished;
  // Of a stream that is filled it lies at most one ring ahead of what was handed out.
  wire ring_ptr_t beyond = offer - now.taken;
  wire in_range = Filled && stream ? beyond <= 16'd1 << log_size :
      offered >= now.taken - finished && offered <= 16'd1 << log_size;
  // A write to a queue that runs, or that makes it run.
  wire runs = update_q.known &&
      (update_q.ring ? now.enable && !now.stopped : to_control_q && wdata[0]);

  logic ring, again, stopping, telling, refused;
  always_comb begin
    next = now;
    next_claim = claim;
    if (!Peeks) next.peeked = 1'b0;
    next_finished = finished + 16'(commit_count_q);
    ring = runs && in_range && (update_q.ring ? producer_q : now.taken) != now.producer;
    stopping = runs && !in_range;
    // Shared: the last slot under way is finished, and another port waits; or that has not come when it could, and this one asks again.
    again = (update_q.commit && update_q.known && claim.wanted && now.enable && !now.stopped && available != '0 &&
             next_finished == now.taken) || (update_q.deq && kept && !under_way);
    if (update_q.deq) begin
      next.taken = taken_after;
      if (Peeks && update_q.max == '0 && status == DeqOk) next.peeked = 1'b1;
      if (status == DeqOk) {next_claim.owner, next_claim.wanted} = {update_q.port, 1'b0};
      if (kept) next_claim.wanted = under_way;
      if (kept && !claim.wanted) next_claim.claimant = update_q.port;
    end
    if (update_q.commit && !again && next_finished == now.taken) next_claim.wanted = 1'b0;
    if (update_q.ring && (!now.enable || in_range)) next.producer = producer_q;
    if (update_q.stop && now.enable && !now.stopped) begin
      stopping  = update_q.known;
      next.code = 4'(update_q.code);
    end
    if (writing_q) begin
      unique case (word)
        QRegBaseLo:
        if (!now.enable) begin
          next.producer = '0;
          next.taken    = '0;
          next_claim.wanted = 1'b0;
          next.peeked   = 1'b0;
          next_finished = '0;
        end
        QRegControl: begin
          next.enable = wdata[0];
          if (!now.enable) begin
            next.log_size  = new_log_size;
            next.log_block = wdata[9:8];
          end
          if (next.enable) begin
            next.stopped = 1'b0;
            next.untold = 1'b0;
            next.code = 4'(ErrNone);
          end
        end
        default: ;
      endcase
    end
    if (runs && !in_range) next.code = 4'(ErrDoorbell);
    telling = update_q.known && (stopping || (update_q.scan && now.untold)) && !error_valid_q;
    if (stopping) next.stopped = 1'b1;
    if (stopping || update_q.scan) next.untold = (stopping || now.untold) && !telling;
  end

  wire sizes_differ = wdata[7:4] != now.log_size || wdata[9:8] != now.log_block;
  always_comb begin
    unique case (word)
      QRegBaseLo, QRegBaseHi, QRegCq: refused = now.enable;
      QRegControl: refused = now.enable ? sizes_differ : wdata[7:4] < 4'd3;
      default: refused = 1'b0;
    endcase
    if (!update_q.known) refused = 1'b1;
  end

  always_comb begin
    unique case (word)
      QRegBaseLo: rdata = {place_q.base[19:0], 11'd0, stream};
      QRegBaseHi: rdata = place_q.base[51:20];
      QRegControl:
      rdata = {12'd0, now.code, 6'd0, now.log_block, now.log_size, 2'd0, now.stopped, now.enable};
      QRegCq: rdata = {16'd0, place_q.cq};
      QRegProducer: rdata = {16'd0, now.producer};
      QRegConsumer: rdata = {now.taken, finished};
      default: rdata = '0;
    endcase
    if (!update_q.known) rdata = '0;
  end

  // The answer to a dequeue: the address, and what the block behind has, are worked out one clock after the update.
  `STREAM(deq_rsp_t, rsp)
  logic rsp_valid_q;
  deq_rsp_t rsp_q;
  ring_ptr_t wrapped, beyond_ring, available_q, behind;
  logic [3:0] per_block, left_q;
  // What is filled goes downwards.
  assign beyond_ring = 16'hFFFF << rsp_q.log_size;
  assign wrapped = (rsp_q.index ^ {16{Filled && rsp_q.stream}}) & ~beyond_ring;
  assign per_block = 4'd8 >> rsp_q.log_block;
  wire past_block = available_q > 16'(left_q);
  assign behind    = past_block ? available_q - 16'(left_q) : '0;
  assign rsp.valid = rsp_valid_q;
  always_comb begin
    rsp.data = rsp_q;
    rsp.data.addr = rsp_q.addr + (64'(wrapped) << (3'd4 + 3'(rsp_q.log_block)));
    if (Functions > 1)
      rsp.data.addr = pcie_pkg::owned(owner_of(rsp_q.queue, Queues / Functions), rsp.data.addr);
    if (Functions > 1 && owner_of(
            rsp_q.cq, Queues / Functions
        ) != owner_of(
            rsp_q.queue, Queues / Functions
        ))
      rsp.data.cq = '1;
    rsp.data.wraps = &(rsp_q.index | beyond_ring | (16'(per_block) - 16'd1));
    rsp.data.ahead = (past_block ? left_q : available_q[3:0]) - rsp_q.count;
    rsp.data.next  = behind < 16'(per_block) ? behind[3:0] : per_block;
    if (rsp_q.status != DeqOk || rsp_q.stream) {rsp.data.ahead, rsp.data.next} = '0;
  end

  fifo #(
      .T(deq_rsp_t),
      .Depth(RspDepth)
  ) i_rsp (
      .clk_i,
      .rst_i,
      .in     (rsp),
      .out    (deq_rsp),
      .count_o(rsp_count)
  );

  `STREAM(queue_t, bell)
  logic bell_valid_q;
  queue_t bell_q;
  queue_error_t error_q;
  assign bell.valid  = bell_valid_q;
  assign bell.data   = bell_q;
  assign error.valid = error_valid_q;
  assign error.data  = error_q;

  fifo #(
      .T(queue_t),
      .Depth(BellDepth)
  ) i_bell (
      .clk_i,
      .rst_i,
      .in     (bell),
      .out    (doorbell),
      .count_o(bell_count)
  );

  always_ff @(posedge clk_i) begin
    read_q   <= op;
    update_q <= read_q;
    if (read_q.access || read_q.ring || read_q.deq) place_q <= place_read;
    writing_q <= to_write;
    producer_read_q <= rung.data.producer;
    producer_q <= producer_read_q;
    to_control_q <= to_write && word == QRegControl;
    refused_o <= (update_q.access && write && refused) || (update_q.ring && !update_q.known);
    commit_count_read_q <= committing ? commit.data.count : '0;
    commit_count_q <= commit_count_read_q;

    rsp_valid_q <= update_q.deq;
    if (update_q.deq) begin
      rsp_q.queue <= update_q.queue;
      rsp_q.status <= status;
      rsp_q.count <= count;
      rsp_q.more <= status == DeqOk && more;
      rsp_q.peek <= Peeks && update_q.max == '0;
      rsp_q.peeked <= Peeks && now.peeked;
      rsp_q.index <= now.taken;
      rsp_q.addr <= {place_q.base, 12'd0};
      rsp_q.log_block <= stream ? '0 : now.log_block;
      rsp_q.stream <= stream;
      rsp_q.granules <= !(Emptied && stream && status == DeqOk) ? '0 : turn_whole ? turn_t'(available) : turn_t'(turn_left);
      rsp_q.cq <= place_q.cq;
      rsp_q.log_size <= now.log_size;
      {rsp_q.ahead, rsp_q.next, rsp_q.wraps} <= '0;  // made on the way out
      available_q <= available;
      left_q <= left;
    end

    bell_valid_q <= (ring && !(Peeks && (now.peeked || stream))) || (Shared && again);
    bell_q <= update_q.queue;
    if (telling) begin
      error_valid_q <= 1'b1;
      error_q <= '{queue: update_q.queue, code: error_e'({4'd0, next.code})};
    end else if (error.ready) error_valid_q <= 1'b0;
    more_untold_q <= next.untold && !now.untold;
    less_untold_q <= now.untold && !next.untold;
    untold_q <= untold_q + (IndexW + 1)'(more_untold_q) - (IndexW + 1)'(less_untold_q);
    since_scan_q <= scan ? '0 : since_scan_q + 2'(since_scan_q != '1);
    scan_due_q <= untold_q != '0 && !error_valid_q && since_scan_q == '1 && !scan;
    rsp_room_q <= 32'(rsp_count) + 5 <= RspDepth;
    bell_room_q <= 32'(bell_count) + 5 <= BellDepth;
    if (scan) scan_q <= scan_q == index_t'(Queues - 1) ? '0 : scan_q + 1'b1;

    if (to_control_q && stream) streams_o <= 1'b1;
    if (rst_i) begin
      streams_o <= 1'b0;
      read_q <= '0;
      update_q <= '0;
      {writing_q, to_control_q} <= '0;
      rsp_valid_q <= 1'b0;
      bell_valid_q <= 1'b0;
      error_valid_q <= 1'b0;
      untold_q <= '0;
      {more_untold_q, less_untold_q} <= '0;
      since_scan_q <= '0;
      {scan_due_q, rsp_room_q, bell_room_q} <= '0;
      scan_q <= '0;
    end
  end

  `ASSERT(AnswerHasRoom, rsp.valid |-> rsp.ready)
  `ASSERT(AllSweptAtOnce, ready |-> claim_ready)
  `ASSERT(DoorbellHasRoom, bell.valid |-> bell.ready)
  `ASSERT(UntoldAreCounted, update_q.scan && now.untold |-> untold_q != '0 || more_untold_q)
  `ASSERT(OneAccess, regs.req |-> !(waiting || read_q.access || (update_q.access && !write)))
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Completion and event queues: rings in host memory that the NIC fills (host-nic paper, section II-D).
///
/// `enq_req` asks for the place of the next record; `commit` says that records are in host memory; `notify` tells, once
/// each time the host arms the queue, that there are records it has not read. One enqueue and one commit a clock, also
/// when all are of one queue; a register access (queue_pkg CqReg*, 32 bytes a queue) takes one clock from both. Answers
/// come 5 clocks later at the earliest, in order. `enq_rsp`, `notify` and `error` may wait: then enq_req (answer or error)
/// waits once 8 of them are held here. Nothing waits for `notify`: a queue that finds no place there stays armed, and all are
/// looked through, one in two clocks, when there is room again.
/// - A full queue refuses (`ok` low); the first refusal since enable was written is reported on `error` (ErrOverflow).
///   A queue that is disabled or does not exist refuses silently.
/// - A ring starts empty, unarmed and in phase 1 when BaseLo is written. Base, Target and size are written while the queue
///   is disabled, or are ignored; wait until Producer stands still. Only whole-word writes count.
/// - A consumer pointer outside what has been written and not yet read is not taken. Bit 31 arms; 0 leaves it as it is.
/// - With `Functions` each has its share of the queues, in their order; Base has 52 bits, and addresses of places say whose they are (pcie_pkg).
///   A target of another function, as Target may name one at first, hears nothing.
/// After reset all queues are disabled and empty (BaseHi is what it was); this takes `Queues` clocks, in which nothing is
/// accepted.
module cpl_queue_manager
  import queue_pkg::*;
#(
    parameter int Queues = 256,
    parameter int Functions = 1,
    parameter int Targets = Queues  // of all functions
) (
    input  logic         clk_i,
    input  logic         rst_i,
    // Host registers, byte address queue * 32 + word * 4.
           reg_if.slave  regs,
    // Places for records: queue_t, enq_rsp_t. Records written: commit_t.
           stream_if.snk enq_req,
           stream_if.src enq_rsp,
           stream_if.snk commit,
    // To the event path: notify_t; queue_error_t.
           stream_if.src notify,
           stream_if.src error,
    // A register write was not taken as it was, for one clock.
    output logic         refused_o
);
  if (Queues < 1 || Queues > 65536) begin : g_bad_parameter
    $fatal(1, "cpl_queue_manager: Queues %0d is not 1 ... 65536", Queues);
  end

  localparam int IndexW = Queues > 1 ? $clog2(Queues) : 1;
  typedef logic [IndexW-1:0] index_t;
  localparam int OutDepth = 8;
  typedef logic [$clog2(OutDepth+1)-1:0] held_t;

  // What an enqueue needs, and what a commit needs, each in a RAM of its own; a register access updates both.
  typedef struct packed {
    logic [19:0] base_lo;
    logic [3:0]  log_size;
    ring_ptr_t   reserved;  // places given away
    ring_ptr_t   consumer;
    logic        lost;
    logic        enable;
  } enq_state_t;
  typedef struct packed {
    queue_t    target;
    ring_ptr_t written;   // records in host memory
    ring_ptr_t consumer;
    logic      armed;
    logic      enable;
  } commit_state_t;

  typedef struct packed {
    logic valid;
    logic access;
    logic scan;  // commit side only
    logic known;  // the queue exists
    queue_t queue;
  } op_t;

  // The register access under way.
  logic waiting, write, access;
  logic [31:0] addr, wdata, rdata;
  wire [ 2:0] word = addr[4:2];
  wire [31:0] access_queue = 32'(addr[31:5]);

  `STREAM(notify_t, notification)
  logic notify_valid_q;

  // What may start: up to three outcomes may still be on their way to each FIFO.
  logic enq_ready, commit_ready;
  held_t rsp_count, notify_count, error_count;
  op_t enq, enq_read_q, enq_q, com, com_read_q, com_q;
  // Queues still to be looked through for one that has not been told of.
  logic [IndexW:0] scan_left_q;
  index_t scan_q;
  logic scan_due_q;
  wire scan = commit_ready && scan_due_q;
  assign access = waiting && enq_ready && commit_ready && !scan;
  assign enq_req.ready = enq_ready && !access && 32'(rsp_count) + 4 <= OutDepth &&
      32'(error_count) + 4 <= OutDepth;
  assign commit.ready = commit_ready && !access && !scan;

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
      .answer_i(enq_q.access),
      .rdata_i(rdata)
  );
  logic [8:0] count_read_q, count_q;
  wire access_known = access_queue < Queues;
  always_comb begin
    enq = '{
        valid: enq_req.valid && enq_req.ready,
        access : 1'b0,
        scan: 1'b0,
        known: 1'b0,
        queue: enq_req.data
    };
    com = '{
        valid: scan || (commit.valid && commit.ready),
        access : 1'b0,
        scan: scan,
        known: 1'b0,
        queue: scan ? 16'(scan_q) : commit.data.queue
    };
    enq.known = 32'(enq.queue) < Queues;
    com.known = 32'(com.queue) < Queues;
    if (access) begin
      enq = '{
          valid: 1'b1,
          access : 1'b1,
          scan: 1'b0,
          known: access_known,
          queue: access_queue[15:0]
      };
      com = enq;
    end
  end

  enq_state_t enq_now, enq_next;
  rmw_ram #(
      .T(enq_state_t),
      .Depth(Queues)
  ) i_enq_state (
      .clk_i,
      .rst_i,
      .ready_o(enq_ready),
      .start_i(enq.valid && enq.known),
      .index_i(index_t'(enq.queue)),
      .now_o  (enq_now),
      .next_i (enq_next)
  );

  // Written while the queue is disabled, by one access at a time: an enqueue right behind such a write, which sees what was
  // there before, is refused.
  logic [31:0] base_hi_read, base_hi_q;
  logic write_base_hi;
  ram_sdp #(
      .Width(32),
      .Depth(Queues)
  ) i_base_hi (
      .clk_i,
      .we_i   (write_base_hi),
      .waddr_i(index_t'(enq_q.queue)),
      .wdata_i(Functions > 1 ? {12'd0, wdata[19:0]} : wdata),
      .re_i   (enq.valid && enq.known),
      .raddr_i(index_t'(enq.queue)),
      .rdata_o(base_hi_read)
  );

  commit_state_t com_now, com_next;
  rmw_ram #(
      .T(commit_state_t),
      .Depth(Queues)
  ) i_commit_state (
      .clk_i,
      .rst_i,
      .ready_o(commit_ready),
      .start_i(com.valid && com.known),
      .index_i(index_t'(com.queue)),
      .now_o  (com_now),
      .next_i (com_next)
  );

  wire writing = com_q.access && com_q.known && write;
  assign write_base_hi = writing && word == CqRegBaseHi && !enq_now.enable;
  // The consumer moves within what has been written, which may go around the end of the numbers.
  wire around = com_now.consumer > com_now.written;
  wire behind = wdata[15:0] < com_now.consumer;
  wire beyond = wdata[15:0] > com_now.written;
  wire moves = writing && word == CqRegConsumer && !(around ? behind && beyond : behind || beyond);
  wire starts_afresh = writing && word == CqRegBaseLo && !com_now.enable;

  // The update of the commit side.
  logic due, unread, notifying;
  logic place_q;  // for one, also if the update before takes another
  always_comb begin
    com_next = com_now;
    com_next.written = com_now.written + 16'(count_q);
    if (writing) begin
      if (word == CqRegControl) com_next.enable = wdata[0];
      if (word == CqRegTarget && !com_now.enable) com_next.target = wdata[15:0];
      if (word == CqRegConsumer && wdata[31]) com_next.armed = 1'b1;
    end
    if (moves) com_next.consumer = wdata[15:0];
    if (starts_afresh) begin
      com_next.written = '0;
      com_next.consumer = '0;
      com_next.armed = 1'b0;
    end
    unread = com_next.written != (moves ? wdata[15:0] : com_now.consumer);
    due = com_q.valid && com_q.known && com_next.enable && com_next.armed && unread;
    notifying = due && place_q;
    if (notifying) com_next.armed = 1'b0;
  end

  logic refused;
  always_comb begin
    unique case (word)
      CqRegBaseLo, CqRegBaseHi, CqRegTarget: refused = com_now.enable;
      CqRegControl: refused = com_now.enable ? wdata[7:4] != enq_now.log_size : wdata[7:4] < 4'd3;
      CqRegConsumer: refused = !moves;
      default: refused = 1'b0;
    endcase
    if (!com_q.known) refused = 1'b1;
  end

  queue_t target;
  assign target = Functions > 1 && owner_of(
      com_now.target, Targets / Functions
  ) != owner_of(
      com_q.queue, Queues / Functions
  ) ? '1 : com_now.target;

  // The update of the enqueue side.
  logic accepted, overflow;
  always_comb begin
    enq_next = enq_now;
    accepted = enq_q.known && enq_now.enable &&
        ring_ptr_t'(enq_now.reserved - enq_now.consumer) < 16'd1 << enq_now.log_size;
    overflow = enq_q.valid && !enq_q.access && enq_q.known && enq_now.enable && !accepted && !enq_now.lost;
    if (!enq_q.access) begin
      if (accepted) enq_next.reserved = enq_now.reserved + 1'b1;
      if (overflow) enq_next.lost = 1'b1;
    end
    if (writing) begin
      if (word == CqRegControl) begin
        enq_next.enable = wdata[0];
        if (wdata[0]) enq_next.lost = 1'b0;
        if (!enq_now.enable) enq_next.log_size = wdata[7:4] < 4'd3 ? 4'd3 : wdata[7:4];
      end
    end
    if (moves) enq_next.consumer = wdata[15:0];
    if (starts_afresh) begin
      enq_next.base_lo  = wdata[31:12];
      enq_next.reserved = '0;
      enq_next.consumer = '0;
    end
  end

  always_comb begin
    unique case (word)
      CqRegBaseLo:   rdata = {enq_now.base_lo, 12'd0};
      CqRegBaseHi:   rdata = base_hi_q;
      CqRegControl:  rdata = {24'd0, enq_now.log_size, 2'd0, enq_now.lost, enq_now.enable};
      CqRegTarget:   rdata = {16'd0, com_now.target};
      CqRegConsumer: rdata = {com_now.armed, 15'd0, com_now.consumer};
      CqRegProducer: rdata = {16'd0, com_now.written};
      default:       rdata = '0;
    endcase
    if (!enq_q.known) rdata = '0;
  end

  // The outcomes, one clock after the update; the address of a place is made there.
  `STREAM(enq_rsp_t, rsp)
  `STREAM(queue_error_t, lost)
  logic rsp_valid_q, lost_valid_q;
  enq_rsp_t rsp_q;
  notify_t notify_q;
  queue_error_t lost_q;
  logic [3:0] log_size_q;

  wire [16:0] pass = {1'b0, rsp_q.index} >> log_size_q;
  ring_ptr_t wrapped;
  assign wrapped   = rsp_q.index & ~(16'hFFFF << log_size_q);
  assign rsp.valid = rsp_valid_q;
  always_comb begin
    rsp.data = rsp_q;
    rsp.data.phase = !pass[0];
    rsp.data.addr = rsp_q.addr + (64'(wrapped) << 4);
    if (Functions > 1)
      rsp.data.addr = pcie_pkg::owned(owner_of(rsp_q.cq, Queues / Functions), rsp.data.addr);
  end
  assign notification.valid = notify_valid_q;
  assign notification.data = notify_q;
  assign lost.valid = lost_valid_q;
  assign lost.data = lost_q;

  fifo #(
      .T(enq_rsp_t),
      .Depth(OutDepth)
  ) i_rsp (
      .clk_i,
      .rst_i,
      .in(rsp),
      .out(enq_rsp),
      .count_o(rsp_count)
  );
  fifo #(
      .T(notify_t),
      .Depth(OutDepth)
  ) i_notify (
      .clk_i,
      .rst_i,
      .in(notification),
      .out(notify),
      .count_o(notify_count)
  );
  fifo #(
      .T(queue_error_t),
      .Depth(OutDepth)
  ) i_error (
      .clk_i,
      .rst_i,
      .in(lost),
      .out(error),
      .count_o(error_count)
  );

  always_ff @(posedge clk_i) begin
    enq_read_q <= enq;
    enq_q <= enq_read_q;
    if (enq_read_q.valid) base_hi_q <= base_hi_read;
    com_read_q <= com;
    com_q <= com_read_q;
    count_read_q <= commit.valid && commit.ready ? commit.data.count : '0;
    count_q <= count_read_q;
    refused_o <= com_q.access && write && refused;

    rsp_valid_q <= enq_q.valid && !enq_q.access;
    if (enq_q.valid) begin
      rsp_q <= '{
          cq: enq_q.queue,
          ok: accepted,
          index: enq_now.reserved,
          phase: 1'b0,
          addr: {base_hi_q, enq_now.base_lo, 12'd0}
      };
      log_size_q <= enq_now.log_size;
    end
    notify_valid_q <= notifying;
    if (scan) scan_q <= scan_q == index_t'(Queues - 1) ? '0 : scan_q + 1'b1;
    place_q <= 32'(notify_count) + 2 < OutDepth;
    scan_due_q <= scan_left_q != '0 && 32'(notify_count) + 2 < OutDepth && !scan;
    if (due && !place_q) scan_left_q <= (IndexW + 1)'(Queues);
    else if (scan) scan_left_q <= scan_left_q - 1'b1;
    if (notifying) notify_q <= '{cq: com_q.queue, target: target};
    lost_valid_q <= overflow;
    if (overflow) lost_q <= '{queue: enq_q.queue, code: ErrOverflow};

    if (rst_i) begin
      enq_read_q <= '0;
      enq_q <= '0;
      com_read_q <= '0;
      com_q <= '0;
      rsp_valid_q <= 1'b0;
      notify_valid_q <= 1'b0;
      lost_valid_q <= 1'b0;
      scan_left_q <= '0;
      scan_q <= '0;
      scan_due_q <= 1'b0;
      place_q <= 1'b0;
    end
  end

  `ASSERT(AnswerHasRoom, rsp.valid |-> rsp.ready)
  `ASSERT(NotifyHasRoom, notification.valid |-> notification.ready)
  `ASSERT(ErrorHasRoom, lost.valid |-> lost.ready)
  `ASSERT(OneAccess, regs.req |-> !(waiting || enq_read_q.access || (enq_q.access && !write)))
endmodule

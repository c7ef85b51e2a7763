// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=36
`include "formal.svh"
`include "reg_master_formal.svh"
`include "rmw_ram_model.svh"
`include "stream.svh"
/// cpl_queue_manager: any one queue against what the host and the completion writer did to it. Places are given away in
/// order, none twice, none skipped, each with its address and phase, and never one whose record the host has not read; the
/// first loss is reported and shown; an armed queue that is enabled and has records has been notified, once each time it
/// was armed; a consumer pointer that is not within what was written counts for nothing; the host reads the true pointers.
/// Relies on: commits only of places given away; a ring moved only when all of its places are written; one register access
/// at a time.
module cpl_queue_manager_formal
  import queue_pkg::*;
(
    input logic        clk_i,
    input logic        rst_i,
    input logic        req_i,
    input logic        write_i,
    input logic        whole_i,         // all byte strobes
    input logic [ 2:0] word_i,
    input logic [ 1:0] req_queue_i,
    input logic [31:0] wdata_i,
    input logic        enq_valid_i,
    input logic [ 1:0] enq_queue_i,
    input logic        commit_valid_i,
    input logic [ 1:0] commit_queue_i,
    input logic [ 3:0] commit_count_i,
    input logic        rsp_ready_i,
    input logic        notify_ready_i,
    input logic        error_ready_i,
    input logic        watched_i        // the queue looked at
);
  `FORMAL_BEGIN
  localparam int Queues = 2;  // 2 and 3 do not exist

  reg_if #(.AddrW(7)) regs ();
  `STREAM(queue_t, enq_req)
  `STREAM(enq_rsp_t, enq_rsp)
  `STREAM(commit_t, commit)
  `STREAM(notify_t, notify)
  `STREAM(queue_error_t, error)
  cpl_queue_manager #(
      .Queues(Queues)
  ) dut (
      .clk_i,
      .rst_i,
      .regs,
      .enq_req,
      .enq_rsp,
      .commit,
      .notify,
      .error
  );
  assign enq_req.valid = enq_valid_i;
  assign enq_req.data  = 16'(enq_queue_i);
  assign commit.valid  = commit_valid_i;
  assign commit.data   = '{queue: 16'(commit_queue_i), count: 9'(commit_count_i)};
  assign enq_rsp.ready = rsp_ready_i;
  assign notify.ready  = notify_ready_i;
  assign error.ready   = error_ready_i;
  `FORMAL_STREAM(assert, enq_rsp, enq_rsp_t)
  `FORMAL_STREAM(assert, notify, notify_t)
  `FORMAL_STREAM(assert, error, queue_error_t)

  // A register access takes effect two clocks after it starts.
  logic busy_q, write_q;
  logic [ 6:0] addr_q;
  logic [31:0] wdata_q;
  reg_master_formal i_host (
      .clk_i,
      .rst_i,
      .req_i,
      .write_i,
      .whole_i,
      .addr_i ({req_queue_i, word_i, 2'b00}),
      .wdata_i,
      .regs,
      .busy_o (busy_q),
      .write_o(write_q),
      .addr_o (addr_q),
      .wdata_o(wdata_q)
  );
  wire [2:0] word_q = addr_q[4:2];
  wire [1:0] req_queue_q = addr_q[6:5];

  // Operations on the watched queue, from the clock in which they are taken to that in which they take effect.
  typedef struct packed {
    logic       is_access;
    logic       is_enq;
    logic       is_commit;
    logic       is_scan;
    logic [3:0] count;
  } op_t;
  logic watched_q;
  op_t op, op1_q, op_q;
  always_comb begin
    op.is_access = dut.access && req_queue_q == 2'(watched_i);
    op.is_enq = enq_req.valid && enq_req.ready && enq_queue_i == 2'(watched_i);
    op.is_commit = commit.valid && commit.ready && commit_queue_i == 2'(watched_i);
    op.is_scan = dut.scan && dut.scan_q == watched_i;
    op.count = op.is_commit ? commit_count_i : 4'd0;
    if (!started_q) op = '0;
  end

  // The model of the watched queue. `promised`: commits taken, also those that have not taken effect.
  ring_ptr_t reserved_before_q, written_q, consumer_q, promised_q;
  logic [51:0] base_q;
  queue_t target_q;
  logic enable_q, lost_q, armed_q, rsp_due_q;
  logic [3:0] log_size_q;
  wire [31:0] base_hi = dut.i_base_hi.mem[watched_i];
  wire ring_ptr_t size = 16'd1 << log_size_q;

  // The answer comes one clock after its enqueue has taken effect, in time for the next.
  enq_rsp_t rsp;
  assign rsp = dut.rsp.data;
  wire ring_ptr_t reserved_now = reserved_before_q + 16'(rsp_due_q && rsp.ok);

  // What should come of it.
  logic notify_due_q, error_due_q, read_due_q, free_q, due_lost_q, due_enable_q, due_armed_q;
  logic [3:0] due_log_size_q;
  ring_ptr_t index_q, due_consumer_q, due_written_q;
  logic [63:0] due_addr_q;

  wire writes = op_q.is_access && write_q;
  // The ring from the oldest unread record on: written, then given away, then free.
  wire ring_ptr_t unread = written_q - consumer_q;
  wire ring_ptr_t taken = reserved_now - consumer_q;
  wire free = enable_q && taken < size;
  wire consumes = writes && word_q == CqRegConsumer && 16'(wdata_q[15:0] - consumer_q) <= unread;
  wire afresh = writes && word_q == CqRegBaseLo && !enable_q;
  ring_ptr_t written, consumer;
  logic enable, armed;
  always_comb begin
    written = written_q + 16'(op_q.count);
    consumer = consumes ? wdata_q[15:0] : consumer_q;
    armed = armed_q || (writes && word_q == CqRegConsumer && wdata_q[31]);
    enable = (writes && word_q == CqRegControl) ? wdata_q[0] : enable_q;
    if (afresh) {written, consumer, armed} = '0;
  end
  wire tells = (op_q.is_access || op_q.is_commit || op_q.is_scan) && dut.place_q && enable && armed && written != consumer;

  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    op1_q <= op;
    op_q <= op1_q;
    rsp_due_q <= op_q.is_enq;
    free_q <= free;
    index_q <= reserved_now;
    due_log_size_q <= log_size_q;
    due_addr_q <= {base_q, 12'd0} + (64'(reserved_now & (size - 16'd1)) << 4);
    {due_lost_q, due_enable_q, due_armed_q} <= {lost_q, enable_q, armed_q};
    {due_consumer_q, due_written_q} <= {consumer_q, written_q};
    read_due_q <= op_q.is_access && !write_q;
    notify_due_q <= tells;
    error_due_q <= op_q.is_enq && enable_q && !free && !lost_q;

    reserved_before_q <= reserved_now;
    promised_q <= promised_q + 16'(op.count);
    written_q <= written;
    consumer_q <= consumer;
    enable_q <= enable;
    armed_q <= armed && !tells;
    if (op_q.is_enq && enable_q && !free) lost_q <= 1'b1;
    if (afresh) {reserved_before_q, promised_q, base_q[19:0]} <= {32'd0, wdata_q[31:12]};
    if (writes && word_q == CqRegBaseHi && !enable_q) base_q[51:20] <= wdata_q;
    if (writes && word_q == CqRegTarget && !enable_q) target_q <= wdata_q[15:0];
    if (writes && word_q == CqRegControl) begin
      if (wdata_q[0]) lost_q <= 1'b0;
      if (!enable_q) log_size_q <= wdata_q[7:4] < 3 ? 4'd3 : wdata_q[7:4];
    end
    if (rst_i) begin
      {op1_q, op_q, rsp_due_q, notify_due_q, error_due_q, read_due_q, enable_q, lost_q, armed_q} <= '0;
      {reserved_before_q, written_q, consumer_q, promised_q, log_size_q, target_q} <= '0;
      base_q <= {base_hi, 20'd0};
    end
  end

  wire told = dut.notification.valid && dut.notification.data.cq == 16'(watched_i);
  wire erred = dut.lost.valid && dut.lost.data.queue == 16'(watched_i);
  wire enq1 = dut.enq_read_q.valid && !dut.enq_read_q.access;
  wire enq2 = dut.enq_q.valid && !dut.enq_q.access;
  wire [16:0] pass = {1'b0, rsp.index} >> due_log_size_q;
  always_comb begin
    if (!started_q) assume (!dut.enq_q.access && !dut.com_q.access);
    if (started_q) begin
      assume (watched_i == watched_q);
      // Only places given away are written, and a ring is moved when all are.
      if (op.is_commit) assume (16'(op.count) <= reserved_now - promised_q);
      if (afresh) assume (reserved_now == written_q && op.count == 0 && op1_q.count == 0);

      // Outcomes find room, so what goes into their FIFOs is what comes out.
      assert (!dut.rsp.valid || dut.rsp.ready);
      assert (!dut.notification.valid || dut.notification.ready);
      assert (!dut.lost.valid || dut.lost.ready);

      assert ((dut.rsp.valid && rsp.cq == 16'(watched_i)) == rsp_due_q);
      if (rsp_due_q) begin
        assert (rsp.ok == free_q);
        assert (rsp.index == index_q);
        if (rsp.ok) assert (rsp.addr == due_addr_q && rsp.phase == !pass[0]);
      end
      assert (told == notify_due_q);
      if (told) assert (dut.notification.data.target == target_q || !due_enable_q);
      assert (erred == error_due_q);
      if (erred) assert (dut.lost.data.code == ErrOverflow);
      if (read_due_q && word_q == CqRegConsumer)
        assert (regs.rdata == {due_armed_q, 15'd0, due_consumer_q});
      if (read_due_q && word_q == CqRegProducer) assert (regs.rdata == {16'd0, due_written_q});
      if (read_due_q && word_q == CqRegControl)
        assert (regs.rdata[1:0] == {due_lost_q, due_enable_q});

      // Records are between the pointers, and an armed queue that has some has been told of.
      assert (unread <= taken && taken <= 16'd32768);
      // One that found no place will be looked at.
      if (enable_q && armed_q && unread != 0)
        assert (dut.scan_left_q == 2 || (dut.scan_left_q == 1 && dut.scan_q == watched_i) || op1_q.is_scan || op_q.is_scan);
      assert (dut.scan_left_q <= 2);
      if (dut.scan_due_q) assert (dut.scan_left_q != 0);

      // How the block stands, for the induction: its pipes, its words of the watched queue, its room for outcomes.
      assert (promised_q - written_q == 16'(op1_q.count) + 16'(op_q.count));
      assert (16'(promised_q - written_q) <= 16'(reserved_now - written_q));
      // A write is answered while it is read for, so the next access may come while it takes effect.
      assert (32'(dut.waiting) + dut.enq_read_q.access + (dut.enq_q.access && !dut.write) + (regs.ack && !dut.write) == 32'(busy_q));
      if (dut.write) assert (regs.ack == dut.enq_read_q.access);
      assert (!(dut.enq_q.access && (dut.enq_read_q.access || dut.waiting)));
      if (busy_q || dut.enq_q.access)
        assert (dut.write == write_q && dut.wdata == wdata_q && dut.addr == {req_queue_q, word_q, 2'b00});
      if (dut.enq_read_q.access)
        assert (dut.enq_read_q == dut.com_read_q && dut.enq_read_q.queue == 16'(req_queue_q));
      if (dut.enq_q.access) assert (dut.enq_q == dut.com_q && dut.enq_q.queue == 16'(req_queue_q));
      assert (dut.enq_read_q.access == dut.com_read_q.access && dut.enq_q.access == dut.com_q.access);
      assert (dut.enq_read_q.valid || !dut.enq_read_q.access);
      assert (dut.enq_q.valid || !dut.enq_q.access);
      if (dut.enq_read_q.valid) assert (dut.enq_read_q.known == (dut.enq_read_q.queue < Queues));
      if (dut.enq_q.valid) assert (dut.enq_q.known == (dut.enq_q.queue < Queues));
      if (dut.com_read_q.valid) assert (dut.com_read_q.known == (dut.com_read_q.queue < Queues));
      if (dut.com_q.valid) assert (dut.com_q.known == (dut.com_q.queue < Queues));
      assert ((op1_q.is_access || op1_q.is_enq) == (dut.enq_read_q.valid && dut.enq_read_q.queue == 16'(watched_i)));
      assert ((op_q.is_access || op_q.is_enq) == (dut.enq_q.valid && dut.enq_q.queue == 16'(watched_i)));
      assert ((op1_q.is_access || op1_q.is_commit || op1_q.is_scan) == (dut.com_read_q.valid && dut.com_read_q.queue == 16'(watched_i)));
      assert ((op_q.is_access || op_q.is_commit || op_q.is_scan) == (dut.com_q.valid && dut.com_q.queue == 16'(watched_i)));
      assert (op1_q.is_access == (dut.enq_read_q.access && dut.enq_read_q.queue == 16'(watched_i)));
      assert (op_q.is_access == (dut.enq_q.access && dut.enq_q.queue == 16'(watched_i)));
      assert (!(op1_q.is_access && (op1_q.is_enq || op1_q.is_commit)));
      assert (op1_q.is_scan == (dut.com_read_q.valid && dut.com_read_q.scan && dut.com_read_q.queue == 16'(watched_i)));
      assert (!(op1_q.is_scan && op1_q.is_commit));
      if (dut.com_read_q.valid && (dut.com_read_q.scan || dut.com_read_q.access))
        assert (dut.count_read_q == 0);
      if (dut.com_read_q.scan) assert (dut.com_read_q.valid && !dut.com_read_q.access);
      assert (!(op_q.is_access && (op_q.is_enq || op_q.is_commit)));
      assert (op_q.is_scan == (dut.com_q.valid && dut.com_q.scan && dut.com_q.queue == 16'(watched_i)));
      assert (!(op_q.is_scan && op_q.is_commit));
      if (dut.com_q.valid && (dut.com_q.scan || dut.com_q.access)) assert (dut.count_q == 0);
      if (dut.com_q.scan) assert (dut.com_q.valid && !dut.com_q.access);
      if (op1_q.is_commit) assert (dut.count_read_q == op1_q.count);
      if (op_q.is_commit) assert (dut.count_q == op_q.count);
      if (!op1_q.is_commit) assert (op1_q.count == 0);
      if (!op_q.is_commit) assert (op_q.count == 0);
      assert (dut.i_enq_state.read_q == (dut.enq_read_q.valid && dut.enq_read_q.known));
      assert (dut.i_enq_state.update_q == (dut.enq_q.valid && dut.enq_q.known));
      assert (dut.i_commit_state.read_q == (dut.com_read_q.valid && dut.com_read_q.known));
      assert (dut.i_commit_state.update_q == (dut.com_q.valid && dut.com_q.known));
      if (dut.i_enq_state.read_q) assert (dut.i_enq_state.read_index_q == dut.enq_read_q.queue[0]);
      if (dut.i_enq_state.update_q) assert (dut.i_enq_state.update_index_q == dut.enq_q.queue[0]);
      if (dut.i_commit_state.read_q)
        assert (dut.i_commit_state.read_index_q == dut.com_read_q.queue[0]);
      if (dut.i_commit_state.update_q)
        assert (dut.i_commit_state.update_index_q == dut.com_q.queue[0]);
      assert (32'(enq1) + enq2 + dut.rsp_valid_q + dut.rsp_count <= 8);
      assert (32'(enq1) + enq2 + dut.lost_valid_q + dut.error_count <= 8);
      assert (32'(dut.notify_valid_q) + dut.notify_count <= 8);
      if (dut.place_q) assert (32'(dut.notify_valid_q) + dut.notify_count <= 7);
      assert (32'(dut.i_rsp.stored_q) + dut.i_rsp.head_full_q <= 8);
      assert (32'(dut.i_notify.stored_q) + dut.i_notify.head_full_q <= 8);
      assert (32'(dut.i_error.stored_q) + dut.i_error.head_full_q <= 8);
      assert (dut.i_enq_state.word_q[watched_i].reserved == reserved_now);
      assert (dut.i_enq_state.word_q[watched_i].consumer == consumer_q);
      assert (dut.i_enq_state.word_q[watched_i].base_lo == base_q[19:0] && base_hi == base_q[51:20]);
      // An operation has what was there when it began.
      if (op1_q.is_access) assert (dut.base_hi_read == base_hi);
      if (op_q.is_access) assert (dut.base_hi_q == base_hi);
      if (op1_q.is_enq)
        assert (dut.base_hi_read == base_hi || !(enable_q || dut.enq_read_q.access || dut.enq_q.access));
      if (op_q.is_enq) assert (dut.base_hi_q == base_hi || !enable_q);
      assert (dut.i_enq_state.word_q[watched_i].log_size == log_size_q);
      assert (dut.i_enq_state.word_q[watched_i].enable == enable_q);
      assert (dut.i_enq_state.word_q[watched_i].lost == lost_q);
      assert (dut.i_commit_state.word_q[watched_i].written == written_q);
      assert (dut.i_commit_state.word_q[watched_i].consumer == consumer_q);
      assert (dut.i_commit_state.word_q[watched_i].target == target_q);
      assert (dut.i_commit_state.word_q[watched_i].armed == armed_q);
      assert (dut.i_commit_state.word_q[watched_i].enable == enable_q);

      cover (erred && taken == 8);
      cover (told && unread == 3);
      cover (rsp_due_q && rsp.ok && !rsp.phase);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=24 timeout=200
`include "formal.svh"
`include "reg_master_formal.svh"
`include "rmw_ram_model.svh"
`include "stream.svh"
/// queue_manager: any one queue against what the host and the engines did to it. Slots are handed out in order, none twice,
/// none skipped, never more than produced, never across a block of eight descriptors; a queue that is disabled or stopped
/// hands out nothing; a doorbell that counts is passed on; each stop is reported once, or is owed; a doorbell outside the ring never
/// counts; the host reads the true pointers. Of a stream all granules asked for or none, one after the other, at most a ring
/// ahead. A peek hands out nothing, and what it finds ends the doorbells of this ring. Relies on: commits only of slots handed out; a ring moved, or made a stream or none, only when all of its
/// slots are finished; one register access at a time.
module queue_manager_formal
  import queue_pkg::*;
(
    input logic        clk_i,
    input logic        rst_i,
    input logic        req_i,
    input logic        write_i,
    input logic        whole_i,           // all byte strobes
    input logic [ 2:0] word_i,
    input logic [ 1:0] req_queue_i,
    input logic [31:0] wdata_i,
    input logic        rung_valid_i,
    input logic [ 1:0] rung_queue_i,
    input logic [15:0] rung_producer_i,
    input logic        deq_valid_i,
    input logic [ 1:0] deq_queue_i,
    input logic [ 3:0] deq_max_i,
    input logic [ 9:0] deq_granules_i,
    input logic        commit_valid_i,
    input logic [ 1:0] commit_queue_i,
    input logic [ 3:0] commit_count_i,
    input logic        stop_valid_i,
    input logic [ 1:0] stop_queue_i,
    input logic        rsp_ready_i,
    input logic        doorbell_ready_i,
    input logic        error_ready_i,
    input logic        watched_i          // the queue looked at
);
  `FORMAL_BEGIN
  localparam int Queues = 2;  // 2 and 3 do not exist

  reg_if #(.AddrW(7)) regs ();
  `STREAM(rung_t, rung)
  `STREAM(deq_req_t, deq_req)
  `STREAM(deq_rsp_t, deq_rsp)
  `STREAM(commit_t, commit)
  `STREAM(queue_error_t, stop)
  `STREAM(queue_t, doorbell)
  `STREAM(queue_error_t, error)
  queue_manager #(
      .Queues (Queues),
      .Streams(StreamsFilled),
      .Peeks  (1'b1)
  ) dut (
      .clk_i,
      .rst_i,
      .regs,
      .rung,
      .deq_req,
      .deq_port_i('0),
      .deq_rsp,
      .commit,
      .stop,
      .doorbell,
      .error
  );
  assign rung.valid = rung_valid_i;
  assign rung.data = '{queue: 16'(rung_queue_i), producer: rung_producer_i};
  assign deq_req.valid = deq_valid_i;
  assign deq_req.data = '{queue: 16'(deq_queue_i), max: deq_max_i, granules: deq_granules_i};
  assign commit.valid = commit_valid_i;
  assign commit.data = '{queue: 16'(commit_queue_i), count: 9'(commit_count_i)};
  assign stop.valid = stop_valid_i;
  assign stop.data = '{queue: 16'(stop_queue_i), code: ErrTimeout};
  assign deq_rsp.ready = rsp_ready_i;
  assign doorbell.ready = doorbell_ready_i;
  assign error.ready = error_ready_i;
  `FORMAL_STREAM(assert, deq_rsp, deq_rsp_t)
  `FORMAL_STREAM(assert, doorbell, queue_t)
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
    logic access;
    logic         deq;
    logic         commit;
    logic         stop;
    logic         ring;
    logic         scan;
    ring_ptr_t    producer;
    logic [3:0]   max;
    granules_t    granules;
    logic [3:0]   count;
  } op_t;
  logic watched_q;
  op_t op, op1_q, op_q;
  always_comb begin
    op.access = dut.access && req_queue_q == 2'(watched_i);
    op.deq = deq_req.valid && deq_req.ready && deq_queue_i == 2'(watched_i);
    op.commit = commit.valid && commit.ready && commit_queue_i == 2'(watched_i);
    op.stop = stop.valid && stop.ready && stop_queue_i == 2'(watched_i);
    op.ring = rung.valid && rung.ready && rung_queue_i == 2'(watched_i);
    op.scan = dut.scan && dut.scan_q == watched_i;
    op.producer = rung_producer_i;
    op.max = deq_max_i;
    op.granules = deq_granules_i;
    op.count = op.commit ? commit_count_i : 4'd0;
    if (!started_q) op = '0;
  end

  // The model of the watched queue. `promised`: commits taken, also those that have not taken effect.
  ring_ptr_t produced_q, handed_before_q, finished_q, promised_q;
  logic enable_q, stopped_q, stream_q, rsp_due_q, due_stream_q;
  logic owed_q;  // stopped and not told
  logic peeked_q, due_peeked_q;
  granules_t granules_q;
  logic [3:0] log_size_q;
  logic [1:0] log_block_q;
  logic [51:0] base_q;
  queue_t cq_q;
  // Where the watched queue's ring is, in its RAMs.
  wire [68:0] place = {
    dut.i_base_hi.mem[watched_i][31:0],
    dut.i_base_lo.mem[watched_i],
    dut.i_base_hi.mem[watched_i][32]
  };
  wire ring_ptr_t size = 16'd1 << log_size_q;

  // The answer comes one clock after its dequeue has taken effect, in time for the next.
  deq_rsp_t rsp;
  assign rsp = dut.rsp.data;
  wire ring_ptr_t handed_now = handed_before_q +
      (!rsp_due_q || rsp.status != DeqOk ? 16'd0 : due_stream_q ? 16'(granules_q) : 16'(rsp.count));

  // What should come of it.
  logic doorbell_due_q, error_due_q, read_due_q;
  logic runs_q, due_stopped_q, due_enable_q;
  logic [1:0] due_log_block_q;
  ring_ptr_t available_q, index_q, due_finished_q;
  logic [3:0] max_q;
  logic [63:0] due_addr_q;
  queue_t due_cq_q;
  logic erred_q;

  wire writes = op_q.access && write_q;
  wire runs = enable_q && !stopped_q;
  wire [3:0] new_log_size = wdata_q[7:4] < 3 ? 4'd3 : wdata_q[7:4];
  wire ring_ptr_t new_size = 16'd1 << (enable_q ? log_size_q : new_log_size);
  // The ring from the first unfinished slot on: handed out, then produced, then free.
  wire ring_ptr_t handed = handed_now - finished_q;
  wire ring_ptr_t produced = produced_q - finished_q;
  wire ring_ptr_t offered = op_q.producer - finished_q;
  // Of a stream: granules ahead of what was handed out.
  wire ring_ptr_t ahead = produced_q - handed_now;
  wire ring_ptr_t ahead_offered = op_q.producer - handed_now;
  wire fits = stream_q ? ahead_offered <= size : offered >= handed && offered <= size;
  wire enable_fits = stream_q ? ahead <= new_size : produced >= handed && produced <= new_size;

  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    op1_q <= op;
    op_q <= op1_q;
    rsp_due_q <= op_q.deq;
    runs_q <= runs;
    {due_stopped_q, due_enable_q, due_log_block_q} <= {stopped_q, enable_q, log_block_q};
    available_q <= produced_q - handed_now;
    index_q <= handed_now;
    max_q <= op_q.max;
    {due_stream_q, granules_q} <= {stream_q, op_q.granules};
    due_peeked_q <= peeked_q;
    if (op_q.deq && op_q.max == '0 && runs && !stream_q && produced_q != handed_now)
      peeked_q <= 1'b1;
    due_addr_q <= {base_q, 12'd0} + (stream_q ? 64'(~handed_now & (size - 16'd1)) << 4 :
        64'(handed_now & (size - 16'd1)) << (4 + log_block_q));
    due_cq_q <= cq_q;
    erred_q <= started_q && error.valid && !error.ready;
    read_due_q <= op_q.access && !write_q;
    due_finished_q <= finished_q;
    doorbell_due_q <= 1'b0;
    error_due_q <= 1'b0;
    promised_q <= promised_q + 16'(op.count);
    finished_q <= finished_q + 16'(op_q.count);
    if (op_q.stop && runs) begin
      stopped_q <= 1'b1;
      {error_due_q, owed_q} <= {!error.valid, error.valid};
    end
    if (op_q.scan && owed_q) {error_due_q, owed_q} <= {!error.valid, error.valid};
    if (op_q.ring) begin
      if (!enable_q || fits) produced_q <= op_q.producer;
      if (runs && fits) doorbell_due_q <= op_q.producer != produced_q && !peeked_q && !stream_q;
      if (runs && !fits) {stopped_q, error_due_q, owed_q} <= {1'b1, !error.valid, error.valid};
    end
    handed_before_q <= handed_now;
    if (writes) begin
      if (word_q == QRegBaseLo && !enable_q)
        {produced_q, handed_before_q, finished_q, promised_q} <= '0;
      if (word_q == QRegBaseLo && !enable_q)
        {base_q[19:0], stream_q, peeked_q} <= {wdata_q[31:12], wdata_q[0], 1'b0};
      if (word_q == QRegBaseHi && !enable_q) base_q[51:20] <= wdata_q;
      if (word_q == QRegCq && !enable_q) cq_q <= wdata_q[15:0];
      if (word_q == QRegControl) begin
        enable_q <= wdata_q[0];
        if (!enable_q) {log_size_q, log_block_q} <= {new_log_size, wdata_q[9:8]};
        if (wdata_q[0]) begin
          stopped_q <= !enable_fits;
          error_due_q <= !enable_fits && !error.valid;
          owed_q <= !enable_fits && error.valid;
          doorbell_due_q <= enable_fits && produced_q != handed_now && !peeked_q && !stream_q;
        end
      end
    end
    if (rst_i) begin
      {op1_q, op_q, rsp_due_q, doorbell_due_q, error_due_q, read_due_q, enable_q, stopped_q, owed_q, peeked_q} <= '0;
      {produced_q, handed_before_q, finished_q, promised_q, log_size_q, log_block_q} <= '0;
      {base_q, cq_q, stream_q} <= place;
    end
  end

  // Where the ring is, of an operation: as it was when that began.
  wire place_read = dut.place_read == {base_q, cq_q, stream_q};
  wire place_known = dut.place_q == {base_q, cq_q, stream_q};

  // The block of the answer.
  wire [3:0] block = 4'd8 >> due_log_block_q;
  wire [3:0] in_block = {1'b0, index_q[2:0]} & (block - 4'd1);
  wire ring_ptr_t behind = available_q - 16'(rsp.count) - 16'(rsp.ahead);
  always_comb begin
    if (deq_max_i == 0) assume (deq_granules_i == 0);
    if (!started_q) assume (!dut.writing_q);
    if (started_q) begin
      assume (watched_i == watched_q);
      // Only slots handed out are finished with, and a ring is moved when all are.
      if (op.commit && !stream_q) assume (16'(op.count) <= handed_now - promised_q);
      if (op_q.access && writes && word_q == QRegBaseLo && !enable_q)
        assume ((stream_q || handed_now == finished_q) && op.count == 0 && op1_q.count == 0);

      // Answers find room, so what goes into their FIFO is what comes out.
      assert (!dut.rsp.valid || dut.rsp.ready);
      if (rsp_due_q) begin
        assert (dut.rsp.valid && rsp.queue == 16'(watched_i));
        if (runs_q) assert (rsp.stream == due_stream_q);
        if (rsp.stream)
          assert (rsp.status == (!runs_q || granules_q == 0 ? DeqStopped : available_q < 16'(granules_q) ? DeqEmpty : DeqOk));
          else assert (rsp.status == (!runs_q ? DeqStopped : available_q == 0 ? DeqEmpty : DeqOk));
        assert (rsp.index == index_q);
        assert (rsp.peek == (max_q == 0) && rsp.peeked == due_peeked_q);
        if (rsp.status != DeqStopped) assert (rsp.addr == due_addr_q && rsp.cq == due_cq_q);
        if (rsp.status != DeqOk) assert (rsp.count == 0 && rsp.ahead == 0);
        if (rsp.stream) begin
          assert (rsp.log_block == 0 && rsp.ahead == 0);
          if (rsp.status == DeqOk)
            assert (rsp.count == 1 && rsp.more == (available_q != 16'(granules_q)));
        end else begin
          assert (rsp.log_block == due_log_block_q);
          assert (16'(rsp.count) <= available_q && rsp.count <= max_q);
          assert (in_block + rsp.count + rsp.ahead <= block);
          // As many as it can: not more only if max, the block or the work ends.
          if (rsp.status == DeqOk)
            assert (rsp.count == max_q || in_block + rsp.count == block || 16'(rsp.count) == available_q);
          assert (rsp.more == (runs_q && available_q != 16'(rsp.count)));
          if (rsp.status == DeqOk) begin
            assert (dut.available_q == available_q && dut.left_q == 4'(block - in_block));
            if (in_block + rsp.count + rsp.ahead != block)
              assert (rsp.next == '0);
              else if (behind < 16'(block))
                assert (16'(rsp.next) == behind);
                else assert (rsp.next == 4'(block));
          end
        end
      end
      assert ((dut.rsp.valid && rsp.queue == 16'(watched_i)) == rsp_due_q);

      // Each report that counts, and no other; those of before may still wait.
      if (doorbell_due_q)
        assert (dut.bell.valid && dut.bell.ready && dut.bell.data == 16'(watched_i));
      if (error_due_q) assert (error.valid && error.data.queue == 16'(watched_i));
      if (dut.bell.valid && dut.bell.data == 16'(watched_i)) assert (doorbell_due_q);
      if (error.valid && error.data.queue == 16'(watched_i)) assert (error_due_q || erred_q);
      if (read_due_q && word_q == QRegConsumer)
        assert (regs.ack && regs.rdata == {index_q, due_finished_q});
      if (read_due_q && word_q == QRegControl)
        assert (regs.rdata[1:0] == {due_stopped_q, due_enable_q});

      // The ring is never overrun, and what is handed out was produced.
      if (runs && stream_q) assert (ahead <= size);
      if (runs && !stream_q) assert (handed <= produced && produced <= size);
      if (!stream_q) assert (handed <= 16'd32768);
      if (!stream_q) assert (16'(promised_q - finished_q) <= handed);
      assert (16'(promised_q - finished_q) == 16'(op1_q.count) + 16'(op_q.count));

      // How the block stands, for the induction: its pipes, its words of the watched queue, its room for answers.
      // A write is answered while it is read for, so the next access may come while it takes effect.
      assert (32'(dut.waiting) + dut.read_q.access + (dut.update_q.access && !dut.write) + (regs.ack && !dut.write) == 32'(busy_q));
      if (dut.write) assert (regs.ack == dut.read_q.access);
      if (busy_q || dut.update_q.access)
        assert (dut.write == write_q && dut.wdata == wdata_q && dut.addr == {req_queue_q, word_q, 2'b00});
      assert (dut.writing_q == (dut.update_q.access && dut.update_q.known && dut.write));
      assert (dut.to_control_q == (dut.writing_q && dut.word == QRegControl));
      assert (op1_q.access == (dut.read_q.access && req_queue_q == 2'(watched_i)));
      assert (op_q.access == (dut.update_q.access && req_queue_q == 2'(watched_i)));
      assert (op1_q.deq == (dut.read_q.deq && dut.read_q.queue == 16'(watched_i)));
      assert (op_q.deq == (dut.update_q.deq && dut.update_q.queue == 16'(watched_i)));
      assert (op1_q.stop == (dut.read_q.stop && dut.read_q.queue == 16'(watched_i)));
      assert (op_q.stop == (dut.update_q.stop && dut.update_q.queue == 16'(watched_i)));
      assert (op1_q.ring == (dut.read_q.ring && dut.read_q.queue == 16'(watched_i)));
      assert (op_q.ring == (dut.update_q.ring && dut.update_q.queue == 16'(watched_i)));
      assert (op1_q.scan == (dut.read_q.scan && dut.read_q.queue == 16'(watched_i)));
      assert (op_q.scan == (dut.update_q.scan && dut.update_q.queue == 16'(watched_i)));
      if (op1_q.ring) assert (dut.producer_read_q == op1_q.producer);
      if (op_q.ring) assert (dut.producer_q == op_q.producer);
      if (dut.read_q.scan) assert (dut.read_q.known);
      if (dut.update_q.scan) assert (dut.update_q.known);
      if (op1_q.deq) assert (dut.read_q.max == op1_q.max);
      if (op_q.deq) assert (dut.update_q.max == op_q.max);
      if (op1_q.max == 0) assert (op1_q.granules == 0);
      if (op_q.max == 0) assert (op_q.granules == 0);
      if (op1_q.deq) assert (dut.read_q.granules == op1_q.granules);
      if (op_q.deq) assert (dut.update_q.granules == op_q.granules);
      assert ($countones(
          {dut.read_q.access, dut.read_q.deq, dut.read_q.stop, dut.read_q.ring, dut.read_q.scan}
      ) <= 1);
      assert ($countones(
          {dut.update_q.access, dut.update_q.deq, dut.update_q.stop, dut.update_q.ring, dut.update_q.scan}
      ) <= 1);
      if (dut.read_q.access) assert (dut.read_q.queue == 16'(req_queue_q));
      if (dut.update_q.access) assert (dut.update_q.queue == 16'(req_queue_q));
      if (|{dut.read_q.access, dut.read_q.deq, dut.read_q.stop, dut.read_q.ring, dut.read_q.scan})
        assert (dut.read_q.known == (dut.read_q.queue < Queues));
      if (|{dut.update_q.access, dut.update_q.deq, dut.update_q.stop, dut.update_q.ring, dut.update_q.scan})
        assert (dut.update_q.known == (dut.update_q.queue < Queues));
      // Doorbells find room.
      assert ((dut.read_q.ring || (dut.read_q.access && dut.write)) + (dut.update_q.ring || (dut.update_q.access && dut.write)) +
              dut.bell_valid_q + dut.bell_count <= 8);
      assert (dut.i_bell.stored_q + dut.i_bell.head_full_q <= 8);
      if (dut.bell_room_q)
        assert ((dut.read_q.ring || (dut.read_q.access && dut.write)) + (dut.update_q.ring || (dut.update_q.access && dut.write)) +
                dut.bell_valid_q + dut.bell_count <= 7);
      if (dut.rsp_room_q)
        assert (dut.read_q.deq + dut.update_q.deq + dut.rsp_valid_q + dut.rsp_count <= 7);
      // What is owed is looked for.
      assert (!(dut.more_untold_q && dut.less_untold_q));
      assert (dut.untold_q + dut.more_untold_q - dut.less_untold_q == 2'(dut.i_state.word_q[0].untold) + 2'(dut.i_state.word_q[1].untold));
      assert (dut.i_state.word_q[watched_i].untold == owed_q);
      assert (dut.i_state.word_q[watched_i].peeked == peeked_q);
      if (owed_q) assert (stopped_q);
      assert (dut.read_q.deq + dut.update_q.deq + dut.rsp_valid_q + dut.rsp_count <= 8);
      assert (dut.i_rsp.stored_q + dut.i_rsp.head_full_q <= 8);
      assert (dut.i_state.read_q == (dut.read_q.known && |{dut.read_q.access, dut.read_q.deq, dut.read_q.stop, dut.read_q.ring, dut.read_q.scan}));
      assert (dut.i_state.update_q == (dut.update_q.known && |{dut.update_q.access, dut.update_q.deq, dut.update_q.stop, dut.update_q.ring, dut.update_q.scan}));
      if (dut.i_state.read_q) assert (dut.i_state.read_index_q == dut.read_q.queue[0]);
      if (dut.i_state.update_q) assert (dut.i_state.update_index_q == dut.update_q.queue[0]);
      assert ((dut.i_finished.read_q && dut.i_finished.read_index_q == watched_i) == (op1_q.access || op1_q.ring || op1_q.commit));
      assert ((dut.i_finished.update_q && dut.i_finished.update_index_q == watched_i) == (op_q.access || op_q.ring || op_q.commit));
      if (dut.read_q.access || dut.read_q.ring)
        assert (!op1_q.commit && dut.commit_count_read_q == 0);
      if (dut.update_q.access || dut.update_q.ring)
        assert (!op_q.commit && dut.commit_count_q == 0);
      if (op1_q.commit) assert (dut.commit_count_read_q == op1_q.count);
      if (op_q.commit) assert (dut.commit_count_q == op_q.count);
      if (!op1_q.commit) assert (op1_q.count == 0);
      if (!op_q.commit) assert (op_q.count == 0);
      assert (dut.i_state.word_q[watched_i].producer == produced_q && dut.i_state.word_q[watched_i].taken == handed_now);
      assert (dut.i_state.word_q[watched_i].enable == enable_q && dut.i_state.word_q[watched_i].stopped == stopped_q);
      assert (dut.i_state.word_q[watched_i].log_size == log_size_q && dut.i_state.word_q[watched_i].log_block == log_block_q);
      assert (place == {base_q, cq_q, stream_q});
      assert (!(dut.update_q.access && (dut.read_q.access || dut.waiting)));
      if (op1_q.access) assert (place_read);
      if (op_q.access) assert (place_known);
      if (op1_q.deq || op1_q.ring)
        assert (place_read || !(enable_q || dut.read_q.access || dut.update_q.access));
      if (op_q.deq || op_q.ring) assert (place_known || !enable_q);
      assert (dut.i_finished.word_q[watched_i] == finished_q);

      cover (rsp_due_q && rsp.stream && rsp.status == DeqOk && index_q != 0);
      cover (rsp_due_q && rsp.count == 3 && rsp.ahead == 2);
      cover (handed_now != 0 && handed_now == finished_q && produced_q != handed_now);
      cover (error_due_q && handed_now != 0);
    end
  end
endmodule

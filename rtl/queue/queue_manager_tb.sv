// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// queue_manager against a model of its queues: random dequeues, commits, stops, doorbells (also bad ones), set-ups and
/// register reads on few queues, of descriptors and streams, so that operations on one queue meet at every distance; then a
/// dequeue and a commit in every clock on a single queue, doorbells in every clock and beside those; at the end stops that nobody
/// takes note of hold up nothing, and are told later. With `Peeks` (queue_manager_peeks_tb) some dequeues are of none.
module queue_manager_tb
  import queue_pkg::*;
#(
    parameter bit Peeks = 1'b0
);
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 5;  // number 5 does not exist

  reg_if regs ();
  `STREAM_ON(rung_t, rung, clk, rst)
  `STREAM_ON(deq_req_t, deq_req, clk, rst)
  `STREAM_ON(deq_rsp_t, deq_rsp, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(queue_error_t, stop, clk, rst)
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  logic refused, streams;
  queue_manager #(
      .Queues (Queues),
      .Streams(StreamsFilled),
      .Peeks  (Peeks)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .refused_o(refused),
      .streams_o(streams),
      .deq_port_i('0),
      .*
  );

  typedef struct {
    logic [63:0] base;
    int log_size, log_block;
    queue_t cq;
    ring_ptr_t producer, taken, slots, finished, answered, given;
    logic enable, stopped, stream, peeked;
    error_e code;
  } model_t;
  model_t m[Queues+1];
  // Stops to be told; and those that the host has undone, which may have been on their way.
  bit owed[Queues];
  bit [15:0] maybe[Queues];  // by their codes
  error_e owed_code[Queues];
  int unsigned told = 0;
  deq_rsp_t rsps[$];
  logic [31:0] rdata, expected_rdata;
  int unsigned
      deq_percent = 0,
      commit_percent = 0,
      stop_percent = 0,
      out_percent = 100,
      error_percent = 100,
      max_max = 8,
      peek_percent = 0,
      queues_used = 6;
  int unsigned deqs = 0, commits = 0, good_slots = 0, bad_doorbells = 0, stops = 0;
  int unsigned
      rings = 0, refusals = 0, expected_refusals = 0, placed = 0, no_room = 0, peeks = 0, quiet = 0;

  function automatic int min(int a, int b);
    return a < b ? a : b;
  endfunction

  // What a dequeue does to the model.
  task automatic model_deq(deq_req_t req);
    deq_rsp_t r;
    int available, block, left;
    r = '0;
    r.queue = req.queue;
    r.peek = Peeks && req.max == 0;
    r.peeked = req.queue < Queues && m[req.queue].peeked;
    if (req.queue >= Queues) r.status = DeqStopped;
    else if (m[req.queue].stream) begin
      available = int'(ring_ptr_t'(m[req.queue].producer - m[req.queue].taken));
      r.status = !m[req.queue].enable || m[req.queue].stopped || req.granules == 0 ? DeqStopped :
          available < int'(req.granules) ? DeqEmpty : DeqOk;
      r.stream = 1;
      if (r.status == DeqEmpty) no_room++;
      if (r.status == DeqOk) begin
        r.index = m[req.queue].taken;
        r.count = 1;
        r.more = available > int'(req.granules);
        r.cq = m[req.queue].cq;
        r.addr = m[req.queue].base + 64'(16 * ((1 << m[req.queue].log_size) - 1 - int'(r.index) % (1 << m[req.queue].log_size)));
        m[req.queue].taken += 16'(req.granules);
        m[req.queue].slots++;
        placed++;
      end
    end else begin
      available = int'(ring_ptr_t'(m[req.queue].producer - m[req.queue].taken));
      block = 8 >> m[req.queue].log_block;
      r.status = !m[req.queue].enable || m[req.queue].stopped ? DeqStopped : available == 0 ? DeqEmpty : DeqOk;
      if (r.status == DeqOk) begin
        r.index = m[req.queue].taken;
        r.count = 4'(min(min(int'(req.max), available), block - int'(r.index) % block));
        left = block - int'(r.index) % block;
        r.ahead = 4'(min(available, left) - int'(r.count));
        r.next = available > left ? 4'(min(available - left, block)) : '0;
        r.wraps = (int'(r.index) + left) % (1 << m[req.queue].log_size) == 0;
        r.log_size = 4'(m[req.queue].log_size);
        r.more = available > int'(r.count);
        r.log_block = 2'(m[req.queue].log_block);
        r.cq = m[req.queue].cq;
        r.addr = m[req.queue].base + 64'((int'(r.index) % (1 << m[req.queue].log_size)) * (16 << m[req.queue].log_block));
        m[req.queue].taken += 16'(r.count);
        m[req.queue].slots += 16'(r.count);
        good_slots += r.count;
        if (r.peek) begin
          peeks++;
          m[req.queue].peeked = 1;
        end
      end
    end
    rsps.push_back(r);
  endtask

  task automatic model_bell(int q);
    if (Peeks && (m[q].peeked || m[q].stream)) quiet++;
    else i_doorbell.expected.push_back(queue_t'(q));
  endtask

  task automatic model_error(int q, error_e code);
    m[q].stopped = 1;
    m[q].code = code;
    owed[q] = 1;
    owed_code[q] = code;
  endtask

  function automatic logic in_range(int q, ring_ptr_t producer);
    int ahead, used;
    if (m[q].stream) return int'(ring_ptr_t'(producer - m[q].taken)) <= 1 << m[q].log_size;
    ahead = int'(ring_ptr_t'(producer - m[q].finished));
    used  = int'(ring_ptr_t'(m[q].taken - m[q].finished));
    return ahead >= used && ahead <= 1 << m[q].log_size;
  endfunction

  // Whether a write changes nothing because the queue runs, or is not all of what was asked for.
  function automatic logic is_refused(int q, logic [2:0] word, logic [31:0] d);
    if (q >= Queues) return 1;
    case (word)
      QRegBaseLo, QRegBaseHi, QRegCq: return m[q].enable;
      QRegControl:
      return m[q].enable ? int'(d[7:4]) != m[q].log_size || int'(d[9:8]) != m[q].log_block : d[7:4] < 3;
      default: return 0;
    endcase
  endfunction

  task automatic model_access(int q, logic [2:0] word, logic write, logic [31:0] d);
    expected_rdata = 0;
    if (write && is_refused(q, word, d)) expected_refusals++;
    if (q >= Queues) return;
    if (!write) begin
      case (word)
        QRegBaseLo: expected_rdata = m[q].base[31:0] | 32'(m[q].stream);
        QRegBaseHi: expected_rdata = m[q].base[63:32];
        QRegCq: expected_rdata = 32'(m[q].cq);
        QRegProducer: expected_rdata = 32'(m[q].producer);
        QRegConsumer: expected_rdata = {m[q].taken, m[q].finished};
        QRegControl:
        expected_rdata = 32'(m[q].enable) | 32'(m[q].stopped) << 1 | m[q].log_size << 4 | m[q].log_block << 8 |
            32'(m[q].code) << 16;
        default: ;
      endcase
      return;
    end
    case (word)
      QRegBaseLo:
      if (!m[q].enable) begin
        m[q].base[31:0] = d & ~32'hFFF;
        m[q].stream     = d[0];
        m[q].producer   = 0;
        m[q].taken      = 0;
        m[q].slots      = 0;
        m[q].finished   = 0;
        m[q].answered   = 0;
        m[q].given      = 0;
        m[q].peeked     = 0;
      end
      QRegBaseHi: if (!m[q].enable) m[q].base[63:32] = d;
      QRegCq: if (!m[q].enable) m[q].cq = d[15:0];
      QRegControl: begin
        if (!m[q].enable) begin
          m[q].log_size  = d[7:4] < 3 ? 3 : int'(d[7:4]);
          m[q].log_block = int'(d[9:8]);
        end
        m[q].enable = d[0];
        if (d[0]) begin
          m[q].stopped = 0;
          m[q].code = ErrNone;
          if (owed[q]) maybe[q][4'(owed_code[q])] = 1;
          owed[q] = 0;
          if (!in_range(q, m[q].producer)) model_error(q, ErrDoorbell);
          else if (m[q].producer != m[q].taken) model_bell(q);
        end
      end
      default: ;
    endcase
  endtask

  task automatic model_rung(int q, ring_ptr_t producer);
    rings++;
    if (q >= Queues) expected_refusals++;
    else if (!m[q].enable) m[q].producer = producer;
    else if (in_range(q, producer)) begin
      if (!m[q].stopped && m[q].producer != producer) model_bell(q);
      m[q].producer = producer;
    end else if (!m[q].stopped) begin
      bad_doorbells++;
      model_error(q, ErrDoorbell);
    end
  endtask

  // Everything takes effect in the clock in which it is taken; a register access in the clock in which it starts.
  always @(posedge clk) begin
    int q;
    if (dut.access && !rst)
      model_access(int'(i_regs.addr[23:5]), i_regs.addr[4:2], i_regs.is_write && &i_regs.wstrb,
                   i_regs.wdata);
    if (stop.valid && stop.ready && !rst && stop.data.queue < Queues &&
        m[stop.data.queue].enable && !m[stop.data.queue].stopped) begin
      stops++;
      model_error(int'(stop.data.queue), stop.data.code);
    end
    if (rung.valid && rung.ready && !rst) model_rung(int'(rung.data.queue), rung.data.producer);
    if (error.valid && error.ready && !rst) begin
      q = int'(error.data.queue);
      told++;
      `CHECK(
          q < Queues && ((owed[q] && owed_code[q] == error.data.code) || maybe[q][4'(error.data.code)]),
          "an error nobody made")
      if (owed[q] && owed_code[q] == error.data.code) owed[q] = 0;
      else maybe[q][4'(error.data.code)] = 0;
    end
    if (refused && !rst) refusals++;
    if (commit.valid && commit.ready && !rst) begin
      commits++;
      if (commit.data.queue < Queues) m[commit.data.queue].finished += 16'(commit.data.count);
    end
    if (deq_req.valid && deq_req.ready && !rst) begin
      deqs++;
      model_deq(deq_req.data);
    end
    if (deq_rsp.valid && deq_rsp.ready && !rst) begin
      deq_rsp_t e, r;
      `CHECK(rsps.size() != 0, "an answer nobody asked for")
      e = rsps.pop_front();
      r = deq_rsp.data;
      if (e.status != DeqOk) begin
        {r.index, r.addr, r.log_block, r.log_size, r.wraps, r.cq} = '0;
        {e.stream, e.peeked} = {r.stream, r.peeked};
      end
      if (r.stream) {r.log_size, r.wraps} = '0;
      `CHECK(r == e, $sformatf("dequeue: %p instead of %p", r, e))
      if (r.status == DeqOk) m[r.queue].answered += 16'(r.count);
    end
  end

  // Drivers.
  `STREAM_SOURCE(deq_req_t, i_deq_req, deq_req, 100)
  `STREAM_SOURCE(commit_t, i_commit, commit, 100)
  `STREAM_SOURCE(queue_error_t, i_stop, stop, 100)
  `STREAM_SINK(deq_rsp_t, i_deq_rsp, deq_rsp, out_percent)
  `STREAM_CHECK(queue_t, i_doorbell, doorbell, out_percent)
  `STREAM_SINK(queue_error_t, i_error, error, error_percent)
  `STREAM_SOURCE(rung_t, i_rung, rung, 100)
  always @(posedge clk) begin
    int q, open;
    if (i_deq_req.queue.size() == 0 && $urandom_range(99) < deq_percent) begin
      q = $urandom_range(queues_used - 1);
      i_deq_req.queue.push_back($urandom_range(99) < peek_percent ?
                                '{queue: queue_t'(q), max: '0, granules: '0} :
                                '{
                                    queue: queue_t'(q),
                                    max: 4'($urandom_range(max_max, 1)),
                                    granules:
                                    granules_t
                                    '(
                                    $urandom_range($urandom_range(9) == 0 ? 600 : 8)
                                    )
                                });
    end
    if (i_stop.queue.size() == 0 && $urandom_range(999) < stop_percent)
      i_stop.queue.push_back('{queue: queue_t'($urandom_range(queues_used - 1)), code: ErrTimeout
                             });
    // Commit slots whose answer has been seen.
    q = $urandom_range(min(queues_used, Queues) - 1);
    open = min(min(int'(ring_ptr_t'(m[q].answered - m[q].given)), 8), max_max);
    if (i_commit.queue.size() == 0 && open != 0 && $urandom_range(99) < commit_percent) begin
      open = $urandom_range(open, 1);
      m[q].given += 16'(open);
      i_commit.queue.push_back('{queue: queue_t'(q), count: 9'(open)});
    end
  end

  `REG_MASTER(24, i_regs, regs)
  task automatic register(logic write, int q, logic [2:0] word, logic [31:0] d,
                          logic [3:0] strb = 4'hF);
    i_regs.access(write, 24'(q * 32) + 24'(word) * 4, d, strb);
    rdata = i_regs.rdata;
    if (!write)
      `CHECK(rdata == expected_rdata, $sformatf(
             "queue %0d word %0d reads %x, not %x", q, word, rdata, expected_rdata))
  endtask

  // A doorbell; it has been taken when this returns.
  task automatic ring(int q, int producer);
    i_rung.queue.push_back('{queue: queue_t'(q), producer: ring_ptr_t'(producer)});
    while (i_rung.queue.size() != 0 || rung.valid) @(posedge clk);
  endtask

  // A queue is set up anew when nothing of it is under way.
  task automatic set_up(int q, int log_size, int log_block, bit stream);
    register(1, q, QRegControl, 0);
    while (m[q].slots != m[q].finished) @(posedge clk);
    repeat (4) @(posedge clk);
    register(1, q, QRegBaseLo, $urandom() & ~32'd1 | 32'(stream));
    register(1, q, QRegBaseHi, $urandom());
    register(1, q, QRegCq, $urandom());
    ring(q, $urandom_range(12));
    register(1, q, QRegControl, 32'(log_size << 4 | log_block << 8 | 1));
  endtask

  task automatic drain();
    {deq_percent, stop_percent} = '0;
    commit_percent = 100;
    out_percent = 100;
    error_percent = 100;
    repeat (400) @(posedge clk);
  endtask

  initial begin
    int q, start_deqs, start_commits, start_rings, first;
    for (int i = 0; i < Queues; i++) {owed[i], maybe[i]} = '0;
    for (int i = 0; i <= Queues; i++) m[i] = '{default: 0, code: ErrNone};
    @(negedge rst);
    register(0, 0, QRegControl, 0);
    `CHECK(rdata == 0, "not disabled by reset")
    for (int i = 0; i < Queues; i++) begin  // what reset leaves as it was
      register(1, i, QRegBaseLo, 0);
      register(1, i, QRegBaseHi, 0);
      register(1, i, QRegCq, 0);
    end
    // A stream is one when a queue is set up as one: what is written and read of it before tells nobody.
    register(1, 0, QRegControl, 0);
    repeat (4) @(posedge clk);
    `CHECK(!streams, "no queue was a stream")
    register(1, 0, QRegBaseLo, 1);
    register(0, 0, QRegBaseLo, 0);
    repeat (4) @(posedge clk);
    `CHECK(!streams, "a stream before it is one")
    register(1, 0, QRegControl, 0);
    repeat (4) @(posedge clk);
    `CHECK(streams, "a stream is not told")
    for (int round = 0; round < 40; round++) begin
      queues_used = $urandom_range(6, 1);
      deq_percent = $urandom_range(100, 10);
      commit_percent = $urandom_range(100, 20);
      stop_percent = $urandom_range(1) * 20;
      out_percent = $urandom_range(100, 20);
      error_percent = $urandom_range(100, 1);
      max_max = $urandom_range(8, 1);
      peek_percent = Peeks ? 10 : 0;
      for (int i = 0; i < 120; i++) begin
        q = $urandom_range(queues_used - 1);
        case ($urandom_range(
            19
        ))
          0:
          if (q < Queues)
            set_up(q, $urandom_range(5, 1), $urandom_range(3), $urandom_range(2) == 0);
          1: register(1, q, QRegControl, 32'($urandom_range(7) != 0));
          // One size at a time, as it is or another.
          2:
          register(1, q, QRegControl, 32'((m[q].log_size ^ int'($urandom_range(3
                   ) == 0)) << 4 | (m[q].log_block ^ int'($urandom_range(3) == 0)) << 8 | 1));
          3: ring(q, $urandom_range(65535));
          4: register(1, q, 3'($urandom()), $urandom(), 4'($urandom_range(14)));
          5, 6, 7: register(0, q, 3'($urandom()), 0);
          8: register(1, q, $urandom_range(1) ? QRegBaseHi : QRegCq, $urandom());
          default: begin
            // Anything up to a full ring.
            int room;
            room = (1 << m[q].log_size) - int'(ring_ptr_t'(m[q].producer - (m[q].stream ? m[q].taken : m[q].finished)));
            ring(q, int'(m[q].producer) + $urandom_range(room > 0 ? room : 0));
          end
        endcase
        if ($urandom_range(3) == 0) repeat ($urandom_range(20)) @(posedge clk);
      end
    end
    drain();
    `CHECK(refusals == expected_refusals && refusals > 100, $sformatf(
           "%0d writes refused, not %0d", refusals, expected_refusals))
    `CHECK(rsps.size() == 0 && i_doorbell.expected.size() == 0, "something was lost")
    for (int i = 0; i < Queues; i++) `CHECK(!owed[i], "a stop was not told")
    `CHECK(told > 50, "errors miscounted")
    `CHECK(!Peeks || (peeks > 20 && quiet > 100), "too few peeks")
    peek_percent = 0;
    `CHECK(placed > 300 && no_room > 300 && streams, "no streams")
    `CHECK(good_slots > 2000 && bad_doorbells > 20 && stops > 20, "the test did not do its work")

    // One queue, every clock a dequeue and a commit; out and back again through the largest ring.
    queues_used = 1;
    max_max = 1;
    set_up(0, 15, 0, 0);
    ring(0, 32768);
    deq_percent = 100;
    repeat (30) @(posedge clk);
    start_deqs = deqs;
    start_commits = commits;
    repeat (1000) @(posedge clk);
    $display("%0d dequeues and %0d commits in 1000 clocks", deqs - start_deqs,
             commits - start_commits);
    `CHECK(deqs - start_deqs >= 999, "less than a dequeue a clock")
    `CHECK(commits - start_commits >= 999, "less than a commit a clock")
    register(0, 0, QRegConsumer, 0);
    `CHECK(rdata[31:16] >= 1000 && rdata[31:16] - rdata[15:0] < 20, "pointers do not move on")
    drain();
    `CHECK(rsps.size() == 0, "answers were lost")

    // Doorbells alone, each of the queue's next slot; then with dequeues and commits as fast as they go.
    set_up(0, 15, 0, 0);
    ring(0, 0);
    first = 0;
    for (int i = 0; i < 1000; i++)
    i_rung.queue.push_back('{queue: 0, producer: ring_ptr_t'(++first)});
    repeat (20) @(posedge clk);
    start_rings = rings;
    repeat (500) @(posedge clk);
    `CHECK(rings - start_rings == 500, "less than a doorbell a clock")
    repeat (600) @(posedge clk);
    deq_percent = 100;
    for (int i = 0; i < 4000; i++)
    i_rung.queue.push_back('{queue: 0, producer: ring_ptr_t'(++first)});
    repeat (20) @(posedge clk);
    start_rings = rings;
    start_deqs = deqs;
    start_commits = commits;
    repeat (1000) @(posedge clk);
    $display("%0d doorbells, %0d dequeues and %0d commits in 1000 clocks", rings - start_rings,
             deqs - start_deqs, commits - start_commits);
    `CHECK(rings - start_rings >= 499 && deqs - start_deqs >= 499, "doorbells or dequeues starve")
    `CHECK(commits - start_commits >= 495, "commits starve")
    repeat (8000) @(posedge clk);
    drain();
    `CHECK(rsps.size() == 0 && i_doorbell.expected.size() == 0, "something was lost")

    // Nobody takes errors: all queues are stopped, and what is not stopped goes on.
    error_percent = 0;
    queues_used   = 6;
    for (int i = 0; i < Queues; i++) begin
      set_up(i, 5, 0, 0);
      ring(i, 60000);
      `CHECK(m[i].stopped, "not stopped")
    end
    set_up(2, 5, 0, 0);
    ring(2, int'(m[2].taken) + 20);
    ring(Queues, 1);
    deq_percent = 100;
    start_deqs  = good_slots;
    repeat (400) @(posedge clk);
    `CHECK(good_slots - start_deqs == 20, "errors hold up others")
    told = 0;
    drain();
    `CHECK(told == Queues - 1, "stops are told once each, but for the one undone")
    for (int i = 0; i < Queues; i++) `CHECK(!owed[i], "a stop was not told")
    `TB_PASS
  end
endmodule

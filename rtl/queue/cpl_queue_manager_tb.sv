// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cpl_queue_manager against a model of its queues: random enqueues, commits, consumer updates (also bad ones), arming and
/// set-ups on few queues, so that operations on one queue meet at every distance; then an enqueue and a commit in every
/// clock on a single queue while the host keeps reading and arming. At the end nobody takes notifications: registers and commits
/// go on, and each queue that is due is told of afterwards.
module cpl_queue_manager_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 5;  // number 5 does not exist

  reg_if regs ();
  `STREAM_ON(queue_t, enq_req, clk, rst)
  `STREAM_ON(enq_rsp_t, enq_rsp, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(notify_t, notify, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  cpl_queue_manager #(
      .Queues(Queues)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .refused_o(),
      .*
  );

  typedef struct {
    logic [63:0] base;
    int log_size;
    queue_t target;
    ring_ptr_t reserved, written, consumer, answered, given;
    logic enable, lost, armed;
  } model_t;
  model_t m[Queues+1];
  enq_rsp_t rsps[$];
  notify_t notifications[$];
  bit withheld = 0;  // notifications may come late, and in another order
  int unsigned told[Queues];
  logic [31:0] rdata, expected_rdata;
  int unsigned
      enq_percent = 0, commit_percent = 0, out_percent = 100, notify_percent = 100, queues_used = 6;
  int unsigned enqs = 0, commits = 0, records = 0, notified = 0, overflows = 0, bad_consumers = 0;

  function automatic int min(int a, int b);
    return a < b ? a : b;
  endfunction

  task automatic model_notify(int q);
    if (m[q].enable && m[q].armed && m[q].written != m[q].consumer) begin
      m[q].armed = 0;
      notified++;
      notifications.push_back('{cq: queue_t'(q), target: m[q].target});
    end
  endtask

  task automatic model_enq(queue_t q);
    enq_rsp_t r;
    r = '0;
    r.cq = q;
    if (q < Queues && m[q].enable) begin
      if (int'(ring_ptr_t'(m[q].reserved - m[q].consumer)) < 1 << m[q].log_size) begin
        r.ok = 1;
        r.index = m[q].reserved;
        r.phase = (int'(r.index) / (1 << m[q].log_size)) % 2 == 0;
        r.addr = m[q].base + 64'(int'(r.index) % (1 << m[q].log_size) * 16);
        m[q].reserved++;
      end else if (!m[q].lost) begin
        m[q].lost = 1;
        overflows++;
        i_error.expected.push_back('{queue: q, code: ErrOverflow});
      end
    end
    rsps.push_back(r);
  endtask

  task automatic model_access(int q, logic [2:0] word, logic write, logic [31:0] d);
    expected_rdata = 0;
    if (q >= Queues) return;
    if (!write) begin
      case (word)
        CqRegBaseLo: expected_rdata = m[q].base[31:0];
        CqRegBaseHi: expected_rdata = m[q].base[63:32];
        CqRegControl: expected_rdata = 32'(m[q].enable) | 32'(m[q].lost) << 1 | m[q].log_size << 4;
        CqRegTarget: expected_rdata = 32'(m[q].target);
        CqRegConsumer: expected_rdata = {m[q].armed, 15'd0, m[q].consumer};
        CqRegProducer: expected_rdata = 32'(m[q].written);
        default: ;
      endcase
      return;
    end
    case (word)
      CqRegBaseLo:
      if (!m[q].enable) begin
        m[q].base[31:0] = d & ~32'hFFF;
        {m[q].reserved, m[q].written, m[q].consumer, m[q].answered, m[q].given} = '0;
        m[q].armed = 0;
      end
      CqRegBaseHi: if (!m[q].enable) m[q].base[63:32] = d;
      CqRegTarget: if (!m[q].enable) m[q].target = d[15:0];
      CqRegControl: begin
        if (!m[q].enable) m[q].log_size = d[7:4] < 3 ? 3 : int'(d[7:4]);
        m[q].enable = d[0];
        if (d[0]) m[q].lost = 0;
      end
      CqRegConsumer: begin
        if (int'(ring_ptr_t'(d[15:0] - m[q].consumer)) <= int'(ring_ptr_t'(m[q].written - m[q].consumer)))
          m[q].consumer = d[15:0];
        else bad_consumers++;
        if (d[31]) m[q].armed = 1;
      end
      default: ;
    endcase
    model_notify(q);
  endtask

  // Everything takes effect in the clock in which it is taken; a register access in the clock in which it starts.
  always @(posedge clk) begin
    if (dut.access && !rst)
      model_access(int'(i_regs.addr[23:5]), i_regs.addr[4:2], i_regs.is_write && &i_regs.wstrb,
                   i_regs.wdata);
    if (commit.valid && commit.ready && !rst) begin
      commits++;
      if (commit.data.queue < Queues) begin
        m[commit.data.queue].written += 16'(commit.data.count);
        model_notify(int'(commit.data.queue));
      end
    end
    if (notify.valid && notify.ready && !rst) begin
      if (!withheld) begin
        `CHECK(notifications.size() != 0 && notify.data == notifications[0], "another notification")
        void'(notifications.pop_front());
      end else told[notify.data.cq]++;
    end
    if (enq_req.valid && enq_req.ready && !rst) begin
      enqs++;
      model_enq(enq_req.data);
    end
    if (enq_rsp.valid && enq_rsp.ready && !rst) begin
      enq_rsp_t e, r;
      `CHECK(rsps.size() != 0, "an answer nobody asked for")
      e = rsps.pop_front();
      r = enq_rsp.data;
      if (!e.ok) {r.index, r.addr, r.phase} = '0;
      `CHECK(r == e, $sformatf("enqueue: %p instead of %p", r, e))
      if (r.ok) m[r.cq].answered++;
      if (r.ok) records++;
    end
  end

  // Drivers.
  `STREAM_SOURCE(queue_t, i_enq_req, enq_req, 100)
  `STREAM_SOURCE(commit_t, i_commit, commit, 100)
  `STREAM_SINK(enq_rsp_t, i_enq_rsp, enq_rsp, out_percent)
  `STREAM_SINK(notify_t, i_notify, notify, notify_percent)
  `STREAM_CHECK(queue_error_t, i_error, error, out_percent)
  always @(posedge clk) begin
    int q, open;
    if (i_enq_req.queue.size() == 0 && $urandom_range(99) < enq_percent)
      i_enq_req.queue.push_back(queue_t'($urandom_range(queues_used - 1)));
    // Commit records whose place is known.
    q = $urandom_range(min(queues_used, Queues) - 1);
    open = min(int'(ring_ptr_t'(m[q].answered - m[q].given)), 8);
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

  // A queue is set up anew when nothing of it is under way.
  task automatic set_up(int q, int log_size);
    register(1, q, CqRegControl, 0);
    while (m[q].reserved != m[q].written) @(posedge clk);
    repeat (4) @(posedge clk);
    register(1, q, CqRegBaseLo, $urandom());
    register(1, q, CqRegBaseHi, $urandom());
    register(1, q, CqRegTarget, $urandom());
    register(1, q, CqRegConsumer, 32'h8000_0000);
    register(1, q, CqRegControl, 32'(log_size << 4 | 1));
  endtask

  task automatic drain();
    enq_percent = 0;
    commit_percent = 100;
    out_percent = 100;
    repeat (400) @(posedge clk);
  endtask

  initial begin
    int q, start_enqs, start_commits, start_notified;
    longint start_time;
    {withheld, notify_percent} = {1'b0, 32'd100};
    notifications.delete();
    for (int i = 0; i <= Queues; i++) m[i] = '{default: 0};
    @(negedge rst);
    register(0, 0, CqRegControl, 0);
    `CHECK(rdata == 0, "not disabled by reset")
    for (int i = 0; i < Queues; i++) register(1, i, CqRegBaseHi, 0);  // reset leaves it as it was
    for (int round = 0; round < 40; round++) begin
      queues_used = $urandom_range(6, 1);
      enq_percent = $urandom_range(100, 5);
      commit_percent = $urandom_range(100, 20);
      out_percent = $urandom_range(100, 10);
      for (int i = 0; i < 120; i++) begin
        q = $urandom_range(queues_used - 1);
        case ($urandom_range(
            19
        ))
          0: if (q < Queues) set_up(q, $urandom_range(6, 1));
          1: register(1, q, CqRegControl, 32'($urandom_range(7) != 0));
          2: register(1, q, CqRegConsumer, $urandom());
          3: register(1, q, 3'($urandom()), $urandom(), 4'($urandom_range(14)));
          4, 5, 6: register(0, q, 3'($urandom()), 0);
          7: register(1, q, $urandom_range(1) ? CqRegBaseHi : CqRegTarget, $urandom());
          default: begin
            ring_ptr_t unread;
            unread = m[q].written - m[q].consumer;
            register(1, q, CqRegConsumer, {
                     1'($urandom()), 15'd0, m[q].consumer + 16'($urandom_range(32'(unread)))});
          end
        endcase
        if ($urandom_range(3) == 0) repeat ($urandom_range(20)) @(posedge clk);
      end
    end
    drain();
    `CHECK(rsps.size() == 0 && notifications.size() == 0 && i_error.expected.size() == 0,
           "something was lost")
    `CHECK(records > 2000 && notified > 200 && overflows > 50 && bad_consumers > 50,
           "the test did not do its work")

    // One queue, every clock an enqueue and a commit.
    queues_used = 1;
    set_up(0, 15);
    enq_percent = 100;
    repeat (30) @(posedge clk);
    start_enqs = enqs;
    start_commits = commits;
    repeat (1000) @(posedge clk);
    $display("%0d enqueues and %0d commits in 1000 clocks", enqs - start_enqs,
             commits - start_commits);
    `CHECK(enqs - start_enqs >= 999, "less than an enqueue a clock")
    `CHECK(commits - start_commits >= 995, "less than a commit a clock")
    start_notified = notified;
    for (int i = 0; i < 100; i++) register(1, 0, CqRegConsumer, {16'h8000, m[0].written});
    `CHECK(notified - start_notified >= 99, "arming is not answered")
    drain();
    `CHECK(rsps.size() == 0 && notifications.size() == 0, "something was lost")

    // Nobody takes notifications.
    {withheld, notify_percent} = {1'b1, 32'd0};
    foreach (told[i]) told[i] = 0;
    queues_used = 5;
    repeat (4) @(posedge clk);
    for (int i = 0; i < Queues; i++) set_up(i, 15);
    enq_percent = 100;
    start_commits = commits;
    start_time = $time;
    for (int i = 0; i < 50; i++) begin
      repeat (10) @(posedge clk);
      register(1, i % Queues, CqRegConsumer, {16'h8000, m[i%Queues].written});
    end
    `CHECK($time - start_time < 50 * 20 * 10, "registers wait for notifications")
    `CHECK(commits - start_commits > 100, "commits wait for notifications")
    notify_percent = 30;
    drain();
    for (int i = 0; i < Queues; i++) begin
      i_regs.access(0, 24'(i * 32) + 24'(CqRegConsumer) * 4, 0, 4'hf);
      rdata = i_regs.rdata;
      `CHECK(!rdata[31] && rdata[15:0] != m[i].written, "a queue is due and was not told of")
      `CHECK(told[i] >= 1 && told[i] <= 11, "notifications miscounted")
    end
    `TB_PASS
  end
endmodule

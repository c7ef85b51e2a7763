// SPDX-License-Identifier: Apache-2.0
// of: queue_manager
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// queue_manager with queues that several ports send from. Each port has a scheduler as simple as can be: a queue that it may serve, and
/// of which a doorbell or an answer has said that there is work, is asked for; the queues it may serve change at any time, and ports stand
/// still. Slots of a queue are handed out in order, each once, and only to a port that nothing of it is under way beside; whatever
/// changes, nothing is left lying while some port may serve it; ports that all serve a queue take turns; one that has it alone keeps it
/// without a break. Then a dequeue of eight slots and their commits as fast as they go.
module queue_shared_tb;
  import queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(600_000)
  localparam int Queues = 5, Ports = 3;

  reg_if regs ();
  `STREAM_ON(rung_t, rung, clk, rst)
  `STREAM_ON(deq_req_t, deq_req, clk, rst)
  `STREAM_ON(deq_rsp_t, deq_rsp, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(queue_error_t, stop, clk, rst)
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  logic refused, streams;
  typedef struct packed {
    port_t    port;
    deq_req_t req;
  } asked_t;
  `STREAM_ON(asked_t, asked, clk, rst)
  assign deq_req.valid = asked.valid;
  assign deq_req.data  = asked.data.req;
  assign asked.ready   = deq_req.ready;
  queue_manager #(
      .Queues (Queues),
      .Streams(StreamsEmptied),
      .Shared (1'b1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .refused_o(refused),
      .streams_o(streams),
      .deq_port_i(asked.data.port),
      .*
  );
  assign error.ready = 1'b1;
  int unsigned out_percent = 100, commit_percent = 100;
  `STREAM_SOURCE(rung_t, i_rung, rung, 100)
  `STREAM_SOURCE(asked_t, i_asked, asked, 100)
  `STREAM_SINK(deq_rsp_t, i_deq_rsp, deq_rsp, out_percent)
  `STREAM_SINK(queue_t, i_doorbell, doorbell, out_percent)
  `STREAM_SOURCE(commit_t, i_commit, commit, commit_percent)
  `STREAM_SOURCE(queue_error_t, i_stop, stop, 100)
  reg_master i_host (
      .clk,
      .rst,
      .on(regs)
  );

  // Of a queue: slots made, handed out, finished; whose the newest are.
  int unsigned made[Queues], handed[Queues], finished[Queues], owner[Queues];
  int unsigned got[Ports][Queues], changes = 0, empties = 0;
  bit serves[Ports][Queues], work[Ports][Queues], busy[Ports][Queues], still[Ports];
  bit is_stopped[Queues];
  int unsigned max_max = 8;
  bit asking = 0;
  typedef struct {
    int unsigned port, queue;
    int unsigned slots;  // or granules
  } flight_t;
  flight_t flights[$];  // handed out and not committed
  asked_t  waiting[$];  // for their answers

  always @(posedge clk)
    if (!rst) begin
      if (doorbell.valid && doorbell.ready)
        for (int p = 0; p < Ports; p++) work[p][doorbell.data[2:0]] = 1;
      if (asked.valid && asked.ready) waiting.push_back(asked.data);
      if (commit.valid && commit.ready) finished[commit.data.queue[2:0]] += 32'(commit.data.count);
      if (deq_rsp.valid && deq_rsp.ready) begin
        automatic asked_t   a = waiting.pop_front();
        automatic deq_rsp_t r = deq_rsp.data;
        automatic int unsigned p = 32'(a.port), q = 32'(a.req.queue);
        automatic int unsigned slots = r.granules != '0 ? 32'(r.granules) : 32'(r.count);
        `CHECK(r.queue == a.req.queue, "an answer to another")
        busy[p][q] = 0;
        if (r.status == DeqOk) begin
          `CHECK(r.index == 16'(handed[q]), "not the next slot")
          if (owner[q] != p) begin
            `CHECK(handed[q] == committed(q), "slots of two ports are under way")
            changes++;
          end
          owner[q] = p;
          handed[q] += slots;
          got[p][q] += slots;
          flights.push_back('{p, q, slots});
          if (r.more) work[p][q] = 1;
        end else begin
          `CHECK(slots == 0 && !r.more, "more than nothing")
          empties++;
        end
        `CHECK(handed[q] <= made[q], "more than there are")
      end
    end

  // What is not under way any more when its answer comes.
  function automatic int unsigned committed(int unsigned q);
    committed = handed[q];
    foreach (flights[i]) if (flights[i].queue == q) committed -= flights[i].slots;
  endfunction

  // The ports: one asks, one commits the oldest that is not of a port that stands still.
  always @(posedge clk) begin
    int unsigned p, q;
    bit blocked[Queues];
    if (asking && i_asked.queue.size() == 0) begin
      p = $urandom_range(Ports - 1);
      q = $urandom_range(Queues - 1);
      for (int i = 0; i < Ports * Queues; i++) begin
        if (serves[p][q] && work[p][q] && !busy[p][q]) begin
          work[p][q] = 0;
          busy[p][q] = 1;
          i_asked.queue.push_back(
              '{port: port_t'(p),
              req: '{queue: queue_t'(q), max: 4'($urandom_range(max_max, 1)), granules: '0}});
          break;
        end
        q = (q + 1) % Queues;
        if (q == 0) p = (p + 1) % Ports;
      end
    end
    if (i_commit.queue.size() == 0 && !commit.valid) begin
      for (int i = 0; i < flights.size(); i++) begin
        if (still[flights[i].port] || flights[i].slots > 256) continue;
        i_commit.queue.push_back('{queue: queue_t'(flights[i].queue), count: 9'(flights[i].slots)
                                 });
        flights.delete(i);
        break;
      end
    end
  end

  task automatic register(int unsigned q, logic [2:0] word, logic [31:0] value);
    i_host.access(1, 24'(q * 32 + 32'(word) * 4), value, '1);
  endtask
  task automatic make(int unsigned q, int unsigned slots);
    if (made[q] + slots - finished[q] > 64) return;
    made[q] += slots;
    i_rung.queue.push_back('{queue: queue_t'(q), producer: ring_ptr_t'(made[q])});
  endtask
  function automatic bit settled();
    settled = 1;
    for (int q = 0; q < Queues; q++) if (finished[q] != made[q]) settled = 0;
  endfunction
  task automatic all_served();
    still = '{default: 0};
    commit_percent = 100;
    for (int q = 0; q < Queues; q++) begin  // somebody serves each
      automatic int unsigned p = $urandom_range(Ports - 1);
      for (int i = 0; i < Ports; i++) serves[i][q] = 32'(i) == p;
    end
    for (int i = 0; i < 4000 && !settled(); i++) @(posedge clk);
    `CHECK(settled(), "slots are left lying")
  endtask

  initial begin
    int unsigned start;
    serves = '{default: 0};
    work   = '{default: 0};
    busy   = '{default: 0};
    @(negedge rst);
    for (int unsigned q = 0; q < Queues; q++) begin
      register(q, QRegBaseLo,
               32'h10000 * q | (q == 4 ? 32'd1 : 32'd0));  // the last one is a stream
      register(q, QRegControl, 32'(6 << 4) | 32'd1);
    end
    asking = 1;
    for (int round = 0; round < 60; round++) begin
      out_percent = $urandom_range(100, 20);
      commit_percent = $urandom_range(100, 5);
      max_max = $urandom_range(8, 1);
      for (int i = 0; i < 60; i++) begin
        case ($urandom_range(
            9
        ))
          0, 1: begin
            automatic int unsigned p = $urandom_range(Ports - 1), q = $urandom_range(Queues - 1);
            serves[p][q] ^= 1;
          end
          2: still[$urandom_range(Ports-1)] ^= 1;
          default: make($urandom_range(Queues - 1), $urandom_range(12, 1));
        endcase
        repeat ($urandom_range(12)) @(posedge clk);
      end
      all_served();
    end
    `CHECK(changes > 300 && empties > 1000, "the test did not do its work")

    // A queue that is disabled and enabled again by the host while another port waits for it.
    for (int round = 0; round < 20; round++) begin
      out_percent = 100;
      still = '{default: 1};
      serves = '{default: 1};
      make(0, 8);
      repeat (40) @(posedge clk);
      register(0, QRegControl, 32'(6 << 4));
      make(0, 4);
      still = '{default: 0};
      repeat ($urandom_range(30)) @(posedge clk);
      register(0, QRegControl, 32'(6 << 4) | 32'd1);
      all_served();
    end

    // All ports serve all queues, which never run empty: they take turns.
    serves = '{default: 1};
    max_max = 8;
    got = '{default: 0};
    for (int i = 0; i < 3000; i++) begin
      make(i % Queues, 16);
      repeat (3) @(posedge clk);
    end
    for (int q = 0; q < Queues; q++)
    for (int p = 0; p < Ports; p++)
      `CHECK(got[p][q] * 4 * Ports > 3 * (got[0][q] + got[1][q] + got[2][q]), $sformatf(
             "port %0d has %0d slots of queue %0d", p, got[p][q], q))
    all_served();

    // One port has a queue alone: what is under way never keeps it from more.
    serves = '{default: 0};
    serves[1][0] = 1;
    repeat (20) @(posedge clk);
    still[1] = 1;
    repeat (2) begin
      make(0, 8);
      repeat (200) @(posedge clk);  // as many as eight dequeues
    end
    `CHECK(handed[0] == made[0], "a port waits for itself")
    all_served();

    // As fast as it goes: eight slots a dequeue, a commit a slot.
    asking = 0;
    repeat (40) @(posedge clk);
    register(1, QRegControl, 0);
    register(1, QRegBaseLo, 32'h80000);
    register(1, QRegControl, 32'(15 << 4) | 32'd1);
    i_rung.queue.push_back('{queue: 1, producer: 16'd8000});
    {made[1], handed[1], finished[1], owner[1]} = {32'd8000, 96'd0};
    repeat (20) @(posedge clk);
    for (int i = 0; i < 1000; i++)
    i_asked.queue.push_back('{port: 0, req: '{queue: 1, max: 8, granules: '0}});
    repeat (60) @(posedge clk);
    flights = '{};
    for (int i = 0; i < 8000; i++) i_commit.queue.push_back('{queue: 1, count: 1});
    repeat (40) @(posedge clk);
    start = finished[1];
    repeat (400) @(posedge clk);
    $display("%0d slots finished in 400 clocks beside their dequeues", finished[1] - start);
    `CHECK(finished[1] - start >= 198, "commits starve")
    `TB_PASS
  end
endmodule

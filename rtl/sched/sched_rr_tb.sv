// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// sched_rr with models of the queues, of the descriptor fetch (answers after some clocks) and of the transmit engine
/// (packets leave after some clocks): every packet is sent once, limits and bursts are kept, turns are round robin,
/// disabling works and forgets nothing, and many queues get a grant a clock at bursts of one packet.
/// +any_policy: turns may be any, half as many grants do, and all takes its time (a scheduler of the user's own).
/// sched_rr_even_tb has the same with as many queues as an index can name.
module sched_rr_tb
  import queue_pkg::*;
#(
    parameter int Queues = 24  // the next number does not exist
);
  `TB_BEGIN
  `TB_TIMEOUT(400_000)

  logic [ 3:0] max_burst = 8;
  logic [15:0] max_inflight = 1000;
  reg_if regs ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  sched_rr #(
      .Queues(Queues)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_burst_i(max_burst),
      .max_inflight_i(max_inflight),
      .*
  );

  bit any_policy = $test$plusargs("any_policy") != 0;
  int unsigned now = 0, grants = 0, sents = 0, empties = 0, produced = 0, waited_at_limit = 0;
  int unsigned backlog[Queues], inflight[Queues], last_due = 0, sent_of_0 = 0;
  logic outstanding[Queues], enabled[Queues], allowance[Queues], waiting[Queues];
  int unsigned overtaken[Queues][Queues];
  int unsigned
      fetch_max = 10,
      flight_max = 20,
      grant_percent = 100,
      sent_percent = 100,
      granted_percent = 100;
  logic [31:0] rdata;

  `STREAM_SOURCE(queue_t, i_doorbell, doorbell, 100)
  `STREAM_SINK(grant_t, i_grant, grant, grant_percent)
  `STREAM_SOURCE(granted_t, i_granted, granted, granted_percent)
  `STREAM_SOURCE(sent_t, i_sent, sent, sent_percent)
  always @(posedge clk) begin
    int q, n;
    now++;
    if (grant.valid && grant.ready && !rst) begin
      granted_t g;
      q = int'(grant.data.queue);
      grants++;
      `CHECK(q < Queues && !outstanding[q], "two grants of a queue at once")
      `CHECK(enabled[q] || allowance[q], "a grant of a disabled queue")
      if (!enabled[q]) allowance[q] = 0;
      `CHECK(grant.data.max != 0 && grant.data.max <= max_burst, "burst out of bounds")
      `CHECK(32'(grant.data.max) + inflight[q] <= 32'(max_inflight),
             "more packets in flight than allowed")
      outstanding[q] = 1;
      waiting[q] = 0;
      for (int o = 0; o < Queues; o++) begin
        overtaken[q][o] = 0;
        overtaken[o][q]++;
        `CHECK(any_policy || !waiting[o] || overtaken[o][q] <= 1, $sformatf(
               "queue %0d passed queue %0d twice", q, o))
      end
      // The fetch looks into the queue at once and answers later.
      n = backlog[q] < 32'(grant.data.max) ? int'(backlog[q]) : int'(grant.data.max);
      backlog[q] -= n;
      g.queue  = queue_t'(q);
      g.count  = 4'(n);
      g.more   = backlog[q] != 0;
      g.status = n != 0 ? DeqOk : $urandom_range(1) ? DeqEmpty : DeqStopped;
      if (n == 0) empties++;
      if (last_due < now + 2) last_due = now + 2;
      last_due += $urandom_range(fetch_max) / 8;
      i_granted.send_in(g, last_due - now);
      inflight[q] += n;
    end
    if (granted.valid && granted.ready && !rst) begin
      q = int'(granted.data.queue);
      outstanding[q] = 0;
      for (int i = 0; i < int'(granted.data.count); i++)
      i_sent.send_in('{queue: queue_t'(q), bytes: 14'($urandom())}, $urandom_range(flight_max));
      // With a limit it may have to pass its turn on.
      waiting[q] = granted.data.more && enabled[q] && max_inflight == 1000;
      for (int o = 0; o < Queues; o++) overtaken[q][o] = 0;
    end
    if (sent.valid && sent.ready && !rst) begin
      q = int'(sent.data.queue);
      sents++;
      if (q == 0) sent_of_0++;
      inflight[q]--;
    end
  end

  `REG_MASTER(24, i_regs, regs)
  task automatic register(logic write, int q, logic [31:0] d);
    i_regs.access(write, 24'(q * 4), d, 4'hF);
    rdata = i_regs.rdata;
  endtask

  task automatic enable(int q, logic on);
    if (on) enabled[q] = 1;
    register(1, q, 32'(on));
    // One turn it already had.
    if (!on) {allowance[q], waiting[q]} = 2'b10;
    enabled[q] = on;
  endtask

  task automatic produce(int q, int n);
    @(negedge clk);
    backlog[q] += n;
    produced += n;
    i_doorbell.queue.push_back(queue_t'(q));
  endtask

  // All is sent, and nothing is left active or in flight.
  task automatic drain();
    for (int q = 0; q < Queues; q++) if (!enabled[q]) enable(q, 1);
    for (int i = 0; i < 5 && sents != produced; i++) repeat (200) @(posedge clk);
    max_inflight = 1000;
    for (int i = 0; i < (any_policy ? 400 : 40) && sents != produced; i++)
      repeat (200) @(posedge clk);
    `CHECK(sents == produced, $sformatf("%0d packets sent of %0d", sents, produced))
    repeat (300) @(posedge clk);
    for (int q = 0; q <= Queues; q++) begin
      register(0, q, 0);
      `CHECK(rdata == (q < Queues ? 1 : 0), $sformatf("queue %0d is left in state %x", q, rdata))
    end
  endtask

  initial begin
    int q, used, start;
    for (q = 0; q < Queues; q++)
    {backlog[q], inflight[q], outstanding[q], enabled[q], allowance[q], waiting[q]} = '0;
    @(negedge rst);
    register(0, 3, 0);
    `CHECK(rdata == 0, "not idle after reset")
    // A doorbell while disabled is not forgotten.
    produce(5, 3);
    produce(Queues - 1, 1);
    repeat (30) @(posedge clk);
    `CHECK(grants == 0, "a disabled queue was granted")
    @(negedge clk) i_doorbell.queue.push_back(16'(Queues));
    drain();

    for (int round = 0; round < 60; round++) begin
      used = $urandom_range(2) == 0 ? 1 : $urandom_range(Queues - 1, 1);
      max_burst = 4'($urandom_range(8, 1));
      max_inflight = $urandom_range(1) ? 16'd1000 : 16'($urandom_range(12, 1));
      fetch_max = $urandom_range(60);
      flight_max = $urandom_range(60);
      grant_percent = $urandom_range(3) == 0 ? $urandom_range(60, 5) : 100;
      granted_percent = $urandom_range(2) == 0 ? $urandom_range(60, 5) : 100;
      sent_percent = $urandom_range(2) == 0 ? $urandom_range(60, 10) : 100;
      for (int i = 0; i < 60; i++) begin
        q = $urandom_range(used - 1);
        case ($urandom_range(
            9
        ))
          0: enable(q, $urandom_range(1) == 1);
          1: begin
            register(0, q, 0);
            `CHECK(32'(rdata[31:16]) <= 32'(max_inflight), "count in flight is wrong")
          end
          default: produce(q, $urandom_range(12));  // sometimes a doorbell for nothing
        endcase
        repeat ($urandom_range(1) * $urandom_range(20)) @(posedge clk);
      end
      grant_percent = 100;
      {granted_percent, sent_percent} = {32'd100, 32'd100};
      drain();
    end
    $display("%0d grants, %0d of them found nothing", grants, empties);
    `CHECK(empties > 20, "no grant ever found a queue empty")

    // All queues, bursts of one: a grant, an answer and a packet a clock.
    {max_burst, max_inflight, fetch_max, flight_max} = {4'd1, 16'd1000, 32'd0, 32'd4};
    for (q = 0; q < Queues; q++) produce(q, 100);
    repeat (50) @(posedge clk);
    start = int'(sents);
    repeat (1000) @(posedge clk);
    $display("%0d packets in 1000 clocks at bursts of one", sents - start);
    `CHECK(sents - start >= (any_policy ? 495 : 990), "less than a packet a clock")
    drain();
    // One queue, bursts of eight: the time from its answer to its next grant sets the rate.
    max_burst = 8;
    produce(0, 4000);
    repeat (50) @(posedge clk);
    start = int'(grants);
    repeat (900) @(posedge clk);
    $display("one queue: a grant every %0d clocks with answers after 3", 900 / (grants - start));
    `CHECK(grants - start >= (any_policy ? 60 : 120), "a queue waits too long for its next turn")
    drain();
    // More packets of a queue than 16 bits count; as that of what was granted goes around, and that of what was sent does, it
    // stands at its limit.
    if (!any_policy) begin  // another's turns may be short: that takes too long
      {max_inflight, flight_max} = {16'd20, 32'd0};
      produce(0, 66000);
      for (int i = 0; i < 1000 && sents != produced; i++) begin
        sent_percent = sent_of_0 inside {[65436 : 65636]} ? 5 : 100;
        repeat (100) @(posedge clk);
      end
      `CHECK(sents == produced, "a queue whose counts go around stands still")
    end
    drain();
    `TB_PASS
  end
endmodule

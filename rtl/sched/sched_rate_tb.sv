// SPDX-License-Identifier: Apache-2.0
// suite: once
`include "sched_rig_tb.svh"
`include "tb.svh"
/// sched_rate: the common conformance run (sched_rig) without limits, and with limits that change all the while; then queues that always
/// have work: each has its rate within 1 %, the others the rest; a new limit holds when the wheel has gone around; nothing that
/// is written to a queue's registers takes anything from the others. All the while no limited queue is granted more than its
/// burst, what its rate gives since, and a packet. +any_policy: conformance alone.
module sched_rate_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(4_000_000)
  localparam int Queues = 100;
  localparam int Slots = 64, LogSlot = 5;
  localparam int Around = Slots << LogSlot;  // clocks
  localparam int LineBytes = 50;
  localparam real Unit = 2.0 ** 20;

  logic [3:0] max_burst = 8;
  logic [3:0] room;
  logic [19:0] window = 65536;
  logic [13:0] longest = 9018;
  logic refused;
  int refusals = 0;
  reg_if regs ();
  reg_if limits ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  sched_rate #(
      .Queues (Queues),
      .Slots  (Slots),
      .LogSlot(LogSlot)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_burst_i(max_burst),
      .room_i(room),
      .longest_i(longest),
      .regs,
      .limits,
      .refused_o(refused),
      .doorbell,
      .grant,
      .granted,
      .begun_i(rig.known),
      .begun_packet_i(rig.known_packet)
  );
  assign sent.ready = 1'b1;
  sched_rig #(
      .Queues(Queues),
      .LineBytes(LineBytes),
      .Single(1)
  ) rig (
      .*
  );
  `REG_MASTER(24, i_limits, limits)

  // ---- Buckets in software, kept as grants are taken: -1 is no limit. A new limit fills them.
  real rate[Queues], burst[Queues], tokens[Queues];  // bytes a clock, bytes, bytes
  int unsigned since[Queues], begins[Queues];
  longint unsigned seen[Queues];
  real least_tokens = 0;
  always @(negedge clk) begin
    refusals += 32'(refused);
    for (int q = 0; q < Queues; q++)
    if (rig.granted_bytes[q] != seen[q]) begin
      if (rate[q] > 0) begin
        tokens[q] += rate[q] * 1.001 * (rig.now - since[q]);
        tokens[q] = tokens[q] > burst[q] ? burst[q] : tokens[q];
        tokens[q] -= real'(rig.granted_bytes[q] - seen[q]) + 4.0 * real'(rig.granted_packets[q] - begins[q]);
        if (tokens[q] < least_tokens) least_tokens = tokens[q];
        if (tokens[q] < -real'(longest) - 8)
          $fatal(1, "FAIL at %0t: queue %0d is %0.0f bytes beyond its burst", $time, q, -tokens[q]);
      end
      since[q]  = rig.now;
      seen[q]   = rig.granted_bytes[q];
      begins[q] = rig.granted_packets[q];
    end
  end

  // A grant may be on its way by the old limit: the new one is held against from `Settle` clocks on.
  localparam int Settle = 40;
  task automatic limit(int q, real bytes_a_clock, int burst_bytes);
    rate[q] = -1;
    i_limits.access(1, 24'(q * 8 + 4), 32'(burst_bytes), 4'hF);
    i_limits.access(1, 24'(q * 8), bytes_a_clock > 0 ? 32'($rtoi(Unit / bytes_a_clock + 0.5)) : 0,
                    4'hF);
    repeat (Settle) @(posedge clk);
    @(negedge clk);
    since[q]  = rig.now;
    tokens[q] = burst_bytes;
    burst[q]  = burst_bytes;
    rate[q]   = bytes_a_clock;
  endtask

  // Rates of limited queues over so many clocks, but for one packet; the others' least and most.
  longint unsigned from_here[Queues];
  real total, worst, least_free, most_free;
  task automatic measure(int clocks);
    real got, wrong;
    for (int q = 0; q < Queues; q++)
      from_here[q] = rig.granted_bytes[q] + 4 * rig.granted_packets[q];
    rig.overload(clocks);
    total = 0;
    worst = 0;
    least_free = 1e9;
    most_free = 0;
    for (int q = 0; q < Queues; q++) begin
      got = real'(rig.granted_bytes[q] + 4 * rig.granted_packets[q] - from_here[q]) / clocks;
      total += got;
      if (rate[q] > 0) begin
        wrong = (got > rate[q] ? got - rate[q] : rate[q] - got) - real'(rig.size_most[q] + 4) / clocks;
        wrong = wrong / rate[q];
        if (wrong > worst) worst = wrong;
      end else if (rig.endless[q]) begin
        if (got < least_free) least_free = got;
        if (got > most_free) most_free = got;
      end
    end
  endtask
  task automatic prepare(int limited, int size_least, int size_most, int active);
    for (int q = 0; q < Queues; q++) begin
      rig.size_least[q] = size_least;
      rig.size_most[q] = size_most;
      rig.endless[q] = q < active;
      rig.enable(q, 1);
      if (q >= limited) limit(q, 0, 0);
    end
    rig.fetch_max = 10;
    rig.desc_max = 10;
    rig.work_conserving = limited == 0;
  endtask
  function automatic real prime(int n);  // the n-th from 11 on
    int found = 0, p = 11;
    bit divides;
    forever begin
      divides = 0;
      for (int i = 2; i * i <= p; i++) divides |= p % i == 0;
      if (!divides && found == n) return p;
      if (!divides) found++;
      p++;
    end
  endfunction

  // Register accesses beside all that.
  typedef enum {
    Nothing,
    Changes,
    Hostile
  } meddling_e;
  meddling_e meddling = Nothing;
  bit meddles = 0;
  always @(posedge clk) begin
    meddles = meddling != Nothing;
    if (meddling == Changes) begin
      limit($urandom_range(Queues - 1), $urandom_range(2) == 0 ? 0.0 : real'($urandom_range(400, 20
            )), $urandom_range(30000));
      repeat ($urandom_range(50)) @(posedge clk);
    end else if (meddling == Hostile) begin
      i_limits.access(1, 24'(8 + 4 * $urandom_range(1)), $urandom_range(3
                      ) == 0 ? '1 : $urandom() >> $urandom_range(31), 4'hF);
      i_limits.access(1, 24'(Queues * 8 + 4 * $urandom_range(99)), $urandom(), 4'hF);
    end
  end

  initial begin
    int q;
    int unsigned from_when, packets;
    for (q = 0; q < Queues; q++) begin
      {since[q], begins[q], seen[q]} = '0;
      rate[q] = -1;
    end
    @(negedge rst);
    rig.conform(6);
    if (!rig.any_policy) begin
      `CHECK(refusals == 0, "something was refused")
    end
    // Limits change while all kinds of things happen.
    rig.work_conserving = 0;
    meddling = Changes;
    rig.conform(6);
    meddling = Nothing;
    wait (!meddles);
    if (rig.any_policy) begin
      `CHECK(rig.sents == rig.produced && rig.sents != 0, "not all was sent")
      `TB_PASS
    end

    // One limited queue, at several rates, and one that is not.
    longest = 1518;
    for (int i = 0; i < 5; i++) begin
      prepare(1, i == 4 ? 60 : 1514, 1514, 2);
      limit(0, i == 0 ? 0.131 : i == 1 ? 1.63 : i == 2 ? 11.3 : 24.7, 16384);
      rig.overload(6000);
      measure(i == 0 ? 700000 : 100000);
      $display(
          "one queue of %0.3f bytes a clock: wrong by %0.2f %%, the other %0.2f, together %0.2f",
          rate[0], 100 * worst, most_free, total);
      `CHECK(worst < 0.01, "the rate is not held")
      `CHECK(total > 0.98 * LineBytes, "the line is not full")
    end
    rig.stop();
    rig.drain();

    // All of them, of 100 primes: first half the line together, then one that has no limit has what they leave.
    longest = 304;
    for (int i = 0; i < 2; i++) begin
      prepare(Queues - i, 60, 300, Queues);
      for (q = 0; q < Queues - i; q++) limit(q, prime(q) * 25 / 27000, 3000);
      rig.overload(20000);
      measure(400000);
      $display("%0d queues: wrong by %0.2f %% at the most, %0.2f bytes a clock together",
               Queues - i, 100 * worst, total);
      `CHECK(worst < 0.01, "the rates are not held")
      `CHECK(total < 26 || i == 1, "more than they are allowed")
      `CHECK(total > 0.98 * LineBytes || i == 0, "the line is not full")
    end
    // Twice the line together: no queue is above its rate, none starves.
    for (q = 0; q < Queues; q++) limit(q, 1, 6000);
    rig.overload(20000);
    measure(200000);
    $display("limits of twice the line: %0.2f bytes a clock together, wrong by %0.2f %%", total,
             100 * worst);
    `CHECK(total > 0.98 * LineBytes, "the line is not full")
    `CHECK(worst < 0.6, "a queue starves")
    rig.stop();

    // One among all the others, which have no limit and always a turn: it is looked at as often as they are.
    rig.drain();
    prepare(1, 60, 300, Queues);
    for (q = 1; q < Queues; q++) limit(q, 0, 0);
    limit(0, 0.3, 3000);
    rig.overload(20000);
    measure(60000);
    $display("one of %0d queues has a limit: wrong by %0.2f %%", Queues, 100 * worst);
    `CHECK(worst < 0.02, "the turns of others keep a queue from what it may send")
    rig.stop();

    // Bursts of packets of 60 bytes: what came meanwhile is there, but no more.
    for (q = 0; q < Queues; q++) limit(q, 0, 0);
    rig.drain();
    prepare(1, 60, 60, 1);
    limit(0, 0.5, 64000);
    packets = rig.granted_packets[0];
    measure(4000);
    packets = rig.granted_packets[0] - packets;
    $display("burst of 64000 bytes: %0d packets of 64 bytes at once", packets);
    `CHECK(packets >= 1000 && packets <= 1000 + 2000 / 64 + 1, "a burst is not what is set")

    // A queue that has to wait for long is looked at once around.
    limit(0, 0.001, 0);
    repeat (4 * Around) @(posedge clk);
    packets = rig.granted_packets[0];
    limit(0, 10, 20000);
    from_when = rig.now;
    repeat (Around + 100 - Settle) @(posedge clk);
    `CHECK(rig.granted_packets[0] != packets,
           "a new limit does not hold when the wheel has gone around")

    longest = 1518;
    // Hostile values: none of another queue's business.
    prepare(2, 1514, 1514, 3);
    limit(0, 5, 8000);
    limit(1, 5, 8000);
    refusals = 0;
    rate[1]  = -1;
    meddling = Hostile;
    rig.overload(20000);
    measure(200000);
    meddling = Nothing;
    wait (!meddles);
    `CHECK(worst < 0.01, "another queue's rate is not held")
    `CHECK(total > 0.98 * LineBytes, "the line is not full")
    `CHECK(refusals > 1000, "values that are out of range are not counted")
    i_limits.access(1, 24'd12, 32'hffffffff, 4'hF);
    i_limits.access(0, 24'd12, 0, 4'hF);
    `CHECK(i_limits.rdata == 32'hfffff, "a burst is not kept in its range")
    i_limits.access(1, 24'd8, 32'd12345, 4'hF);
    i_limits.access(0, 24'd8, 0, 4'hF);
    `CHECK(i_limits.rdata == 32'd12345, "a period is not what was written")
    i_limits.access(0, 24'(Queues * 8), 0, 4'hF);
    `CHECK(i_limits.rdata == 0, "a queue that does not exist is read")
    $display("at the most %0.0f bytes beyond a burst", -least_tokens);
    rig.stop();
    for (q = 0; q < Queues; q++) limit(q, 0, 0);
    rig.drain();
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "sched_rig_tb.svh"
`include "tb.svh"
/// sched_pieo: the common conformance run (sched_rig), with weights and priorities, without limits and with limits that change all the while; then queues that
/// always have work: bytes are as weights are; with limits beside them each limited queue has its rate and the others the rest by weights; of lower priorities
/// one has what higher ones leave; one that comes back has its credit and no more. The line is full all the while.
/// Then equals, how often one is granted. +any_policy: conformance alone.
module sched_pieo_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(4_000_000)
  localparam int Queues = 24;
  localparam int LineBytes = 50;

  logic [3:0] max_burst = 8;
  logic [3:0] room;
  logic [19:0] window = 65536;
  logic [13:0] longest = 9018;
  logic refused;
  reg_if regs ();
  reg_if limits ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  sched_pieo #(
      .Queues (Queues),
      .Slots  (64),
      .LogSlot(5)
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

  // 0: no limit.
  task automatic limit(int q, real bytes_a_clock, int burst = 16384);
    i_limits.access(1, 24'(q * 8 + 4), 32'(burst), 4'hF);
    i_limits.access(1, 24'(q * 8), bytes_a_clock > 0 ? 32'($rtoi(2.0 ** 20 / bytes_a_clock + 0.5
                    )) : 0, 4'hF);
  endtask
  task automatic set(int q, int weight, int priority_, real rate, int size_least, int size_most);
    rig.shares[q] = weight;
    rig.priorities[q] = priority_;
    rig.size_least[q] = size_least;
    rig.size_most[q] = size_most;
    limit(q, rate);
    rig.enable(q, 1);
  endtask

  // Bytes a clock of each queue, FCS counted, over so many clocks; in bytes over weight the most that two of `these` were ever apart.
  real got[Queues], total, apart;
  task automatic measure(int clocks, logic [Queues-1:0] these = '0);
    longint unsigned from_here[Queues];
    real ratio, least, most;
    rig.overload(8000);
    for (int q = 0; q < Queues; q++)
      from_here[q] = rig.granted_bytes[q] + 4 * rig.granted_packets[q];
    apart = 0;
    for (int i = 0; i < 20; i++) begin
      rig.overload(clocks / 20);
      least = 1e18;
      most  = 0;
      total = 0;
      for (int q = 0; q < Queues; q++) begin
        got[q] = real'(rig.granted_bytes[q] + 4 * rig.granted_packets[q] - from_here[q]) / (clocks / 20 * (i + 1));
        total += got[q];
        ratio = got[q] * (clocks / 20 * (i + 1)) / rig.shares[q];
        if (these[q]) least = ratio < least ? ratio : least;
        if (these[q]) most = ratio > most ? ratio : most;
      end
      if (these != '0 && most - least > apart) apart = most - least;
    end
  endtask
  function automatic bit near(real x, real y, real share);
    near = x > y * (1 - share) && x < y * (1 + share);
  endfunction
  task automatic idle_all();
    rig.stop();
    for (int q = 0; q < Queues; q++) begin
      rig.endless[q] = 0;
      limit(q, 0);
    end
    rig.drain();
  endtask

  logic changes = 0, changing = 0;
  always @(posedge clk) begin
    changing = changes;
    if (changes)
      limit($urandom_range(Queues - 1), $urandom_range(2) == 0 ? 0.0 : real'($urandom_range(400, 20
            )), $urandom_range(30000));
  end

  initial begin
    int unsigned packets;
    real rates[Queues], rest;
    @(negedge rst);
    // While tables are cleared nothing is accepted.
    rig.i_doorbell.queue.push_back(queue_t'(0));
    repeat (8190) begin
      @(negedge clk);
      `CHECK(!doorbell.ready && !granted.ready,
             "something is accepted before all tables are cleared")
    end
    repeat (10) @(negedge clk);
    `CHECK(rig.i_doorbell.taken == 1, "a doorbell is not taken")
    for (int q = 0; q < Queues; q++) begin
      rig.shares[q] = $urandom_range(255);
      rig.priorities[q] = $urandom_range(7);
    end
    rig.conform(8);
    changes = 1;
    rig.work_conserving = 0;
    rig.conform(6);
    changes = 0;
    wait (!changing);
    if (rig.any_policy) begin
      `CHECK(rig.sents == rig.produced && rig.sents != 0, "not all was sent")
      `TB_PASS
    end
    {rig.fetch_max, rig.desc_max} = {32'd10, 32'd10};
    idle_all();

    // Weights: 1:2:4 of one size, then many of random weights and sizes.
    for (int round = 0; round < 4; round++) begin
      for (int q = 0; q < Queues; q++) begin
        rig.endless[q] = round != 0 || q < 3;
        if (round == 0) set(q, 1 << q % 3, 0, 0, 1514, 1514);
        else begin
          packets = $urandom_range(1514, 60);
          set(q, round == 3 ? $urandom_range(255, 128) : $urandom_range(12, 1), 0, 0, packets,
              round == 1 ? packets : $urandom_range(1514, packets));
        end
      end
      longest = 1518;
      if (round == 0)
        rig.overload(8000);  // one may be 112 kB of weight 1 ahead, of what it had before
      measure(200000, round == 0 ? Queues'(7) : '1);
      $display(
          "weights, round %0d: never more than %0.0f bytes of weight 1 apart, together %0.2f bytes a clock",
          round, apart, total);
      `CHECK(apart < (round == 3 ? 4096 : 16384), "bytes are not as the weights are")
      `CHECK(total > 0.98 * LineBytes, "the line is not full")
      if (round == 0)
        `CHECK(near(got[1], 2 * got[0], 0.02) && near(got[2], 4 * got[0], 0.02),
               "weights are not kept")
      rig.stop();
      idle_all();
    end

    // Weights and limits at once: 0 ... 3 have weights only, 4 ... 11 limits below their share of the line, 12 one above.
    rest = LineBytes;
    for (int q = 0; q < 13; q++) begin
      rates[q] = q < 4 ? 0 : q < 12 ? 0.2 * (q - 3) : 40;
      set(q, q < 4 ? 1 << q : q < 12 ? 1 + q : 1, 0, rates[q], 1514, 1514);
      rig.endless[q] = 1;
      if (q < 12) rest -= rates[q];
    end
    rig.overload(40000);
    measure(400000);
    for (int q = 0; q < 13; q++) begin
      if (q >= 4 && q < 12)
        `CHECK(near(got[q], rates[q], 0.015), "a limit is not held, or not reached")
      else
        `CHECK(near(got[q], rest * (q < 4 ? 1 << q : 1) / 16.0, 0.03),
               "what is left is not shared by weights")
    end
    `CHECK(total > 0.98 * LineBytes, "the line is not full")
    $display(
        "weights and limits: %0.3f %0.3f %0.3f %0.3f, limited ones %0.3f of 0.2 ... %0.3f of 1.6, together %0.2f",
        got[0], got[1], got[2], got[3], got[4], got[11], total);
    idle_all();

    // Priorities: a limited one first, then two by weights, then who gets nothing; then these two are limited too.
    for (int i = 0; i < 2; i++) begin
      set(0, 1, 0, 8, 300, 300);
      set(1, 1, 3, i == 0 ? 0 : 5, 1000, 1000);
      set(2, 3, 3, i == 0 ? 0 : 5, 1000, 1000);
      set(3, 3, 7, 0, 1514, 1514);
      set(4, 1, 7, 0, 60, 1514);
      for (int q = 0; q < 5; q++) rig.endless[q] = 1;
      measure(200000);
      $display("priorities: 8 at first has %0.2f, then %0.2f and %0.2f, then %0.2f and %0.2f",
               got[0], got[1], got[2], got[3], got[4]);
      `CHECK(near(got[0], 8, 0.015), "the first priority does not have its limit")
      `CHECK(total > 0.98 * LineBytes, "the line is not full")
      if (i == 0)
        `CHECK(near(got[2], 3 * got[1], 0.03) && got[3] + got[4] < 0.5,
               "the lowest priority has something")
      if (i == 1)
        `CHECK(near(got[1], 5, 0.015) && near(got[2], 5, 0.015) && near(got[3], 3 * got[4], 0.03),
               "the lowest priority does not have the rest")
      idle_all();
    end

    // One queue for long, then another beside it: that has its credit at first, and no more.
    set(0, 1, 0, 0, 1000, 1000);
    set(1, 1, 0, 0, 1000, 1000);
    rig.endless[0] = 1;
    measure(100000);
    `CHECK(total > 0.98 * LineBytes, "one queue does not fill the line")
    rig.endless[1] = 1;
    packets = rig.granted_packets[0];
    measure(100000);
    `CHECK(near(got[0], got[1], 0.05), "one that comes back is not as the other")
    idle_all();

    // Equals whose every packet is more than 2 kB: one that is that far ahead waits for those on their way, the others at its place do not wait for it.
    for (int q = 0; q < Queues; q++) begin
      set(q, 1, 0, 0, 2500, 2500);
      rig.endless[q] = 1;
    end
    {max_burst, rig.line_free} = {4'd1, 1'b1};
    rig.overload(2000);
    packets = rig.grants;
    rig.overload(10000);
    packets = rig.grants - packets;
    $display("equals of long packets: a grant every %0.2f clocks", 10000.0 / packets);
    `CHECK(packets > 1500, "equals wait for each other")
    idle_all();
    `CHECK(rig.sents == rig.produced, "not all was sent")
    `TB_PASS
  end
endmodule

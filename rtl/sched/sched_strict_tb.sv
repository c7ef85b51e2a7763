// SPDX-License-Identifier: Apache-2.0
`include "sched_rig_tb.svh"
`include "tb.svh"
/// sched_strict: the common conformance run (sched_rig); then all queues with work without end: the highest priority gets the line, the
/// next one when that has ended, and of one priority each queue the same number of grants. +any_policy: conformance alone.
module sched_strict_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(900_000)
  localparam int Queues = 24;
  localparam int Late = 12;  // clocks within which a higher priority's work counts

  logic [ 3:0] max_burst = 8;
  logic [ 3:0] room;
  logic [19:0] window = 32768;
  reg_if regs ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  assign sent.ready = 1'b1;
  sched_strict #(
      .Queues(Queues)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_burst_i(max_burst),
      .room_i(room),
      .regs,
      .doorbell,
      .grant,
      .granted
  );
  sched_rig #(.Queues(Queues)) rig (.*);

  // No grant while a higher priority has had work for long.
  bit judged = 0;
  int unsigned grants[Queues], offered_at = 0, lower = 0;
  always @(posedge clk) begin
    if (!grant.valid) offered_at = rig.now;
    if (grant.valid && grant.ready && !rst) begin
      automatic int q = int'(grant.data.queue);
      grants[q]++;
      if (judged) begin
        for (int o = 0; o < Queues; o++) begin
          if (rig.shares[o] < rig.shares[q] && rig.enabled[o] && rig.backlog[o] != 0 && !rig.outstanding[o]) begin
            `CHECK(rig.has_since[o] + Late > offered_at,
                   $sformatf("queue %0d is granted before %0d", q, o))
          end
          if (rig.shares[o] > rig.shares[q]) lower++;
        end
      end
    end
  end

  initial begin
    longint unsigned high, low;
    @(negedge rst);
    for (int q = 0; q < Queues; q++) rig.shares[q] = $urandom_range(7);
    judged = !rig.any_policy;
    rig.conform(25);
    if (rig.any_policy) begin
      `CHECK(rig.sents == rig.produced && rig.sents != 0, "not all was sent")
      `TB_PASS
    end
    judged = 0;

    // Without end: 0 ... 3 of the highest priority, 4 ... 7 of the next, the rest below.
    for (int q = 0; q < Queues; q++) begin
      rig.shares[q] = q / 4;
      rig.enable(q, 1);
      {rig.size_least[q], rig.size_most[q]} = {32'd1000, 32'd1000};
      grants[q] = 0;
      rig.sent_bytes[q] = 0;
    end
    rig.fetch_max = 10;
    rig.desc_max = 10;
    max_burst = 8;
    rig.overload(2000);
    for (int q = 0; q < Queues; q++) {grants[q], rig.sent_bytes[q]} = '0;
    rig.overload(8000);
    high = rig.sent_bytes[0] + rig.sent_bytes[1] + rig.sent_bytes[2] + rig.sent_bytes[3];
    low  = 0;
    for (int q = 4; q < Queues; q++) low += rig.sent_bytes[q];
    $display("the highest priority has sent %0d bytes of %0d, all others %0d", high, 8000 * 50,
             low);
    `CHECK(high > 8000 * 50 * 97 / 100, "the highest priority does not have the line")
    `CHECK(low == 0, "lower priorities take from the line")
    for (int q = 1; q < 4; q++)
      `CHECK(grants[q] + 2 >= grants[0] && grants[0] + 2 >= grants[q],
             "turns of one priority are not the same")
    // The first end: the next ones have the line.
    for (int q = 0; q < 4; q++) begin
      rig.produced -= rig.backlog[q];
      rig.backlog[q] = 0;
      rig.endless[q] = 0;
    end
    rig.overload(2000);
    for (int q = 0; q < Queues; q++) rig.sent_bytes[q] = 0;
    rig.overload(8000);
    high = 0;
    for (int q = 4; q < 8; q++) high += rig.sent_bytes[q];
    `CHECK(high > 8000 * 50 * 97 / 100, "the next priority does not have the line")
    rig.stop();
    rig.drain();
    `CHECK(lower > 20, "no choice was ever judged")
    `TB_PASS
  end
endmodule

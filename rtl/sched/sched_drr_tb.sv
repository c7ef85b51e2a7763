// SPDX-License-Identifier: Apache-2.0
`include "sched_rig_tb.svh"
`include "tb.svh"
/// sched_drr: the common conformance run (sched_rig); then queues that always have work, of random weights and sizes: what they have
/// sent since is, at any time, as their weights are, but for a bound. +any_policy: conformance alone.
module sched_drr_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Queues = 12;
  localparam int Quantum = 2048;

  logic [ 3:0] max_burst = 8;
  logic [ 3:0] room;
  logic [19:0] window = 65536;
  reg_if regs ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  sched_drr #(
      .Queues (Queues),
      .Quantum(Quantum)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_burst_i(max_burst),
      .room_i(room),
      .regs,
      .doorbell,
      .grant,
      .granted,
      .sent
  );
  sched_rig #(.Queues(Queues)) rig (.*);

  initial begin
    real ratio, least, most, worst;
    longint unsigned from_here[Queues];
    @(negedge rst);
    for (int q = 0; q < Queues; q++) rig.shares[q] = $urandom_range(20, 1);
    rig.conform(15);
    if (rig.any_policy) begin
      `CHECK(rig.sents == rig.produced && rig.sents != 0, "not all was sent")
      `TB_PASS
    end

    for (int round = 0; round < 4; round++) begin
      max_burst = round == 0 ? 4'd8 : 4'($urandom_range(8, 1));
      for (int q = 0; q < Queues; q++) begin
        rig.shares[q] = round == 0 ? 1 << q % 3 : $urandom_range(12, 1);
        rig.size_least[q] = round < 2 ? 1514 : $urandom_range(1514, 60);
        rig.size_most[q] = round < 2 ? 1514 :
            $urandom_range(round == 3 ? 9014 : 1514, rig.size_least[q]);
        rig.enable(q, 1);
      end
      rig.fetch_max = 10;
      rig.desc_max  = 10;
      rig.overload(6000);
      for (int q = 0; q < Queues; q++) from_here[q] = rig.sent_bytes[q];
      worst = 0;
      for (int look = 0; look < 20; look++) begin
        rig.overload(2000);
        least = 1e18;
        most  = 0;
        for (int q = 0; q < Queues; q++) begin
          ratio = real'(rig.sent_bytes[q] - from_here[q]) / rig.shares[q];
          least = ratio < least ? ratio : least;
          most  = ratio > most ? ratio : most;
        end
        worst = most - least > worst ? most - least : worst;
      end
      $display("round %0d: bytes over weight from %0.0f to %0.0f, never more than %0.0f apart",
               round, least, most, worst);
      // A round, and a grant of the longest packets and what is under way of a queue of weight 1.
      `CHECK(worst < 2.0 * Quantum + 8 * 9014 + 32768, "bytes are not as the weights are")
      `CHECK(least > 0.5 * most, "bytes are far from the weights")
      rig.stop();
      rig.drain();
    end
    `TB_PASS
  end
endmodule

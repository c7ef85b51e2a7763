// SPDX-License-Identifier: Apache-2.0
`include "sched_rig_tb.svh"
`include "tb.svh"
/// grant_gate behind sched_rr: the common conformance run (sched_rig); then queues that always have work, of long, short and mixed
/// packets: what is granted and not sent stays near the window, and the line is full all the same.
module grant_gate_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Queues = 12, LineBytes = 50, Window = 65536;

  logic [ 3:0] max_burst = 8;
  logic [ 3:0] room;  // of the rig's window, which bounds nothing here
  logic [19:0] window = '1;
  reg_if regs ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, turn, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  sched_rr #(
      .Queues(Queues)
  ) i_sched (
      .clk_i(clk),
      .rst_i(rst),
      .max_burst_i(max_burst),
      .max_inflight_i(16'd1000),
      .regs,
      .doorbell,
      .grant(turn),
      .granted,
      .sent
  );
  grant_gate #(
      .Window(20'(Window))
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in(turn),
      .out(grant),
      .behind_i(rig.behind)
  );
  sched_rig #(
      .Queues(Queues),
      .LineBytes(LineBytes)
  ) rig (
      .*
  );

  // Granted and not yet sent.
  longint unsigned under_way, most;
  always @(posedge clk) begin
    under_way = 0;
    for (int q = 0; q < Queues; q++) under_way += rig.granted_bytes[q] - rig.sent_bytes[q];
    if (under_way > most) most = under_way;
  end
  function automatic longint unsigned all_sent();
    all_sent = 0;
    for (int q = 0; q < Queues; q++) all_sent += rig.sent_bytes[q];
  endfunction

  initial begin
    longint unsigned from_here;
    real used;
    @(negedge rst);
    rig.work_conserving = 0;  // by the rig's window there is always room
    rig.conform(15);

    for (int round = 0; round < 4; round++) begin
      for (int q = 0; q < Queues; q++) begin
        rig.size_least[q] = round == 0 ? 9014 : round == 1 ? 60 : round == 2 ? 1514 : q % 2 == 0 ? 60 : 9014;
        rig.size_most[q] = rig.size_least[q];
        rig.enable(q, 1);
      end
      rig.fetch_max = 10;
      rig.desc_max  = 10;
      rig.overload(25_000);  // what was granted before the first lengths were known has left
      most = 0;
      from_here = all_sent();
      rig.overload(40_000);
      used = real'(all_sent() - from_here) / (40_000.0 * LineBytes);
      $display("round %0d: %0d bytes under way at most, the line %0.1f %% full", round, most,
               100 * used);
      `CHECK(most < Window + 8 * 9014, "far more under way than the window")
      `CHECK(used > 0.98, "the line starves")
      rig.stop();
      rig.drain();
    end
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "sched_rig_tb.svh"
`include "tb.svh"
/// sched_tdma: the common conformance run (sched_rig) without a schedule; then with schedules of random slots and leads: every grant
/// lies within a slot of its class, less the leads, each open class with work has its share, and what slots several have goes on
/// over the edge. +any_policy: conformance alone.
module sched_tdma_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(900_000)
  localparam int Queues = 24;
  localparam int Slots = 16;
  localparam int Late = 8;  // clocks from an edge to the last grant that was on its way

  logic [ 3:0] max_burst = 8;
  logic [ 3:0] room;
  logic [19:0] window = 32768;
  reg_if regs ();
  reg_if slots ();
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(grant_t, grant, clk, rst)
  `STREAM_ON(granted_t, granted, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  assign sent.ready = 1'b1;
  eth_pkg::ptp_time_t ptp = 48'd1000, start = '0;
  logic run = 0;
  logic [3:0] last = 0, slot;
  logic [19:0] open_lead = 0, close_lead = 0;
  sched_tdma #(
      .Queues(Queues),
      .Slots (Slots)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_burst_i(max_burst),
      .room_i(room),
      .regs,
      .doorbell,
      .grant,
      .granted,
      .time_i(ptp),
      .run_i(run),
      .start_i(start),
      .last_i(last),
      .open_lead_i(open_lead),
      .close_lead_i(close_lead),
      .slots,
      .slot_o(slot)
  );
  sched_rig #(.Queues(Queues)) rig (.*);
  `REG_MASTER(24, i_slots, slots)
  always @(posedge clk) ptp <= ptp + 4;

  // The schedule in software: whether a class is open at a time in ns.
  int unsigned length[Slots], period, in_slots, outside;
  logic [15:0] classes[Slots];
  function automatic int slot_at(longint t);
    longint at = t - longint'(start);
    int i = 0;
    if (at < 0) return -1;
    at = at % longint'(period);
    while (at >= longint'(length[i])) begin
      at -= longint'(length[i]);
      i = (i + 1) % (int'(last) + 1);
    end
    return i;
  endfunction
  // Open from `open_lead` before its slot until `close_lead` before the end; over the edge where the next one has it, too.
  function automatic bit is_open(int class_, longint t);
    int opened = slot_at(t + longint'(open_lead)), kept = slot_at(t + longint'(close_lead));
    if (opened < 0) return 0;
    if (close_lead < open_lead)
      return classes[opened][class_] || (kept >= 0 && classes[kept][class_]);
    return classes[opened][class_] && classes[kept][class_];
  endfunction

  always @(posedge clk) begin
    if (run && grant.valid && grant.ready && !rst) begin
      automatic bit good = 0;
      for (int i = 0; i <= Late; i++)
      good |= is_open(int'(rig.shares[grant.data.queue]), longint'(ptp) - 4 * i);
      in_slots++;
      `CHECK(good, $sformatf("queue %0d of class %0d is granted out of its slots at %0d ns",
                             grant.data.queue, rig.shares[grant.data.queue], ptp))
    end
  end

  initial begin
    int unsigned got[Queues];
    @(negedge rst);
    for (int q = 0; q < Queues; q++) rig.shares[q] = q % 16;
    rig.conform(15);
    if (rig.any_policy) begin
      `CHECK(rig.sents == rig.produced && rig.sents != 0, "not all was sent")
      `TB_PASS
    end

    rig.work_conserving = 0;
    max_burst = 1;
    for (int round = 0; round < 12; round++) begin
      last = 4'($urandom_range(15));
      open_lead = $urandom_range(1) ? '0 : 20'($urandom_range(400));
      close_lead = round == 0 ? '0 : 20'(open_lead) + 20'($urandom_range(600));
      period = 0;
      for (int i = 0; i <= int'(last); i++) begin
        length[i]  = $urandom_range(8000, i == 0 ? 5000 : 1200);
        classes[i] = round < 2 ? 16'(1 << i) : 16'($urandom());
        if (i == 0 || $urandom_range(9) == 0) classes[i] |= 16'hffff;
        period += length[i];
        i_slots.write(24'(8 * i), length[i]);
        i_slots.write(24'(8 * i + 4), 32'(classes[i]));
      end
      for (int q = 0; q < Queues; q++) begin
        {rig.size_least[q], rig.size_most[q]} = {32'd60, 32'd300};
        rig.enable(q, 1);
      end
      start = round[0] ? ptp + 48'd2000 : ptp - 48'd3000;  // also one that has begun
      in_slots = 0;
      @(negedge clk) run = 1;
      rig.overload(int'(2 * period / 4) + 3000);
      `CHECK(in_slots > period / 200, "hardly anything was granted")
      for (int q = 0; q < Queues; q++)
        `CHECK(rig.sent_bytes[q] != 0, $sformatf("queue %0d had no slot", q))
      rig.stop();
      @(negedge clk) run = 0;
      rig.drain();
      for (int q = 0; q < Queues; q++) rig.sent_bytes[q] = 0;
    end
    `TB_PASS
  end
endmodule

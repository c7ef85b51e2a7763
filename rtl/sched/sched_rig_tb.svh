// SPDX-License-Identifier: Apache-2.0
// What the benches of all transmit schedulers share.
`ifndef EMERY_SCHED_RIG_TB_SVH
`define EMERY_SCHED_RIG_TB_SVH
`include "parts_tb.svh"
`include "stream.svh"

/// Queues with work, the descriptor fetch, which answers grants after some clocks, and an engine that sends what was granted, in order,
/// `LineBytes` a clock; sched_window beside them. Each packet must be sent once and in its queue's turn; no queue that is disabled or has
/// a grant gets one. With `work_conserving` a queue that has long had work may not wait while there is room and nothing is granted.
/// `sent_bytes` and the other counts are for the bench; `known` is sched_window's. +any_policy: a scheduler of the user's own may have a queue wait.
module sched_rig #(
    parameter int Queues = 24,
    parameter int LineBytes = 50,
    parameter bit Single = 0  // of sched_window
) (
    input logic clk,
    input logic rst,
    stream_if doorbell,
    stream_if grant,
    stream_if granted,
    stream_if sent,
    reg_if regs,
    input logic [3:0] max_burst,
    input logic [19:0] window,
    output logic [3:0] room
);
  import queue_pkg::*;
  localparam int Patience = 64;  // clocks in which a grant must come

  // What the bench sets.
  int unsigned
      fetch_max = 10, desc_max = 20, grant_percent = 100, granted_percent = 100, sent_percent = 100;
  int unsigned size_least[Queues], size_most[Queues];
  bit any_policy = $test$plusargs("any_policy") != 0;
  bit work_conserving = 1, line_free = 0;  // the line takes any number of bytes

  // What it looks at.
  int unsigned now = 0, grants = 0, empties = 0, sents = 0, produced = 0;
  int unsigned backlog[Queues], inflight[Queues], has_since[Queues];
  longint unsigned sent_bytes[Queues], granted_bytes[Queues], granted_packets[Queues];
  logic outstanding[Queues], enabled[Queues], allowance[Queues], endless[Queues];
  logic granted_now = 0;
  int   granted_queue;

  // Packets between grant and wire.
  typedef struct {
    int queue;
    int bytes;
    int unsigned due;
  } packet_t;
  packet_t asked[$], begun[$];
  int unsigned last_due = 0, desc_due = 0, idle_clocks = 0, under_way = 0;
  int credit = 0;

  `STREAM_SOURCE(queue_t, i_doorbell, doorbell, 100)
  `STREAM_SINK(grant_t, i_grant, grant, grant_percent)
  `STREAM_SOURCE(granted_t, i_granted, granted, granted_percent)
  `STREAM_SOURCE(sent_t, i_sent, sent, sent_percent)

  logic beat_valid = 0;
  desc_beat_t beat = '0;
  logic known;
  sent_t known_packet;
  behind_grant_t behind;
  assign behind = '{
          granted_valid: granted.valid,
          granted_ready: granted.ready,
          granted: granted.data,
          sent_valid: sent.valid,
          sent_ready: sent.ready,
          sent: sent.data,
          beat_valid: beat_valid,
          beat_ready: 1'b1,
          beat: beat
      };
  sched_window #(
      .Single(Single)
  ) i_window (
      .clk_i(clk),
      .rst_i(rst),
      .window_i(window),
      .grant_valid_i(grant.valid),
      .grant_ready_i(grant.ready),
      .grant_max_i(grant.data.max),
      .behind_i(behind),
      .room_o(room),
      .begun_o(known),
      .begun_packet_o(known_packet)
  );

  always @(posedge clk) begin
    int q, n;
    bit waits;
    packet_t packet;
    granted_t g;
    now++;
    if (grant.valid && grant.ready && !rst) begin
      q = int'(grant.data.queue);
      grants++;
      if (q >= Queues || outstanding[q])
        $fatal(1, "FAIL at %0t: two grants of queue %0d", $time, q);
      if (!enabled[q] && !allowance[q])
        $fatal(1, "FAIL at %0t: a grant of a disabled queue", $time);
      if (grant.data.max == 0 || grant.data.max > max_burst)
        $fatal(1, "FAIL at %0t: a burst out of bounds", $time);
      if (!enabled[q]) allowance[q] = 0;
      outstanding[q] = 1;
      // The fetch looks into the queue at once and answers later.
      n = backlog[q] < 32'(grant.data.max) ? int'(backlog[q]) : int'(grant.data.max);
      backlog[q] -= n;
      g = '{
          queue: queue_t'(q),
          status: n != 0 ? DeqOk : $urandom_range(1) == 1 ? DeqEmpty : DeqStopped,
          count: 4'(n),
          more: backlog[q] != 0
      };
      if (n == 0) empties++;
      if (last_due < now + 2) last_due = now + 2;
      last_due += $urandom_range(fetch_max) / 8;
      i_granted.send_in(g, last_due - now);
      inflight[q] += n;
      for (int i = 0; i < n; i++) begin
        if (desc_due < now + 4) desc_due = now + 4;
        desc_due += $urandom_range(desc_max) / 8;
        packet = '{queue: q, bytes: $urandom_range(size_most[q], size_least[q]), due: desc_due};
        asked.push_back(packet);
        granted_bytes[q] += 64'(packet.bytes);
        granted_packets[q]++;
      end
    end
    if (granted.valid && granted.ready && !rst) begin
      q = int'(granted.data.queue);
      outstanding[q] = 0;
      has_since[q] = now;
    end
    // Descriptors come, packets leave.
    beat_valid <= 0;
    if (!rst && asked.size() != 0 && asked[0].due <= now) begin
      packet = asked.pop_front();
      beat_valid <= 1;
      beat <= '0;
      beat.last <= 1;
      beat.queue <= queue_t'(packet.queue);
      beat.desc.len <= 16'(packet.bytes);
      packet.due = now + 8;
      begun.push_back(packet);
      under_way += packet.bytes;
    end
    if (credit < LineBytes || line_free) credit += LineBytes;
    while (!rst && begun.size() != 0 && begun[0].due <= now && (line_free || credit >= begun[0].bytes || credit >= LineBytes)) begin
      packet = begun.pop_front();
      credit -= packet.bytes;
      if (line_free) credit = 0;
      i_sent.queue.push_back('{queue: queue_t'(packet.queue), bytes: 14'(packet.bytes)});
      if (!line_free) break;
    end
    if (sent.valid && sent.ready && !rst) begin
      q = int'(sent.data.queue);
      sents++;
      inflight[q]--;
      sent_bytes[q] += 64'(sent.data.bytes);
      under_way -= 32'(sent.data.bytes);
    end
    // A queue that could be granted, for long.
    waits = 0;
    for (int i = 0; i < Queues; i++)
    waits |= enabled[i] && backlog[i] != 0 && !outstanding[i] && has_since[i] + Patience < now;
    idle_clocks = waits && room != 0 && !grant.valid && !rst ? idle_clocks + 1 : 0;
    if (work_conserving && !any_policy && idle_clocks > Patience + 16 * Queues)
      $fatal(1, "FAIL at %0t: work, and nothing is granted", $time);
  end

  `REG_MASTER(24, i_regs, regs)
  logic [31:0] rdata;
  int unsigned shares[Queues], priorities[Queues];
  function automatic logic [31:0] word(int q);  // of an enabled queue
    word = 1 | shares[q] << 8 | priorities[q] << 2;
  endfunction
  task automatic register(logic write, int q, logic [31:0] d);
    i_regs.access(write, 24'(q * 4), d, 4'hF);
    rdata = i_regs.rdata;
  endtask
  task automatic enable(int q, logic on);
    if (on) begin
      enabled[q]   = 1;
      has_since[q] = now + 8;
    end
    register(1, q, word(q) ^ 32'(!on));
    if (!on) allowance[q] = 1;  // one turn it already had
    enabled[q] = on;
  endtask
  task automatic produce(int q, int n);
    @(negedge clk);
    if (backlog[q] == 0) has_since[q] = now + 8;
    backlog[q] += n;
    produced += n;
    i_doorbell.queue.push_back(queue_t'(q));
  endtask
  task automatic drain();
    {grant_percent, granted_percent, sent_percent} = {32'd100, 32'd100, 32'd100};
    line_free = 1;
    for (int q = 0; q < Queues; q++) if (!enabled[q]) enable(q, 1);
    for (int i = 0; i < 500 && sents != produced; i++) repeat (100) @(posedge clk);
    if (sents != produced)
      $fatal(1, "FAIL at %0t: %0d packets sent of %0d", $time, sents, produced);
    repeat (100 + 40 * Queues) @(posedge clk);  // grants that find nothing
    line_free = 0;
    for (int q = 0; q <= Queues; q++) begin
      register(0, q, 0);
      if (rdata != (q < Queues ? word(q) : 0))
        $fatal(1, "FAIL at %0t: queue %0d is left in state %x", $time, q, rdata);
    end
  endtask

  // Random traffic, enables and stalls, for all schedulers alike.
  task automatic conform(int rounds);
    int q, used;
    for (int round = 0; round < rounds; round++) begin
      used = $urandom_range(2) == 0 ? 1 : $urandom_range(Queues - 1, 1);
      fetch_max = $urandom_range(60);
      desc_max = $urandom_range(60);
      grant_percent = $urandom_range(3) == 0 ? $urandom_range(60, 5) : 100;
      granted_percent = $urandom_range(2) == 0 ? $urandom_range(60, 5) : 100;
      sent_percent = $urandom_range(2) == 0 ? $urandom_range(60, 10) : 100;
      line_free = $urandom_range(1) == 0;
      for (int i = 0; i < Queues; i++) begin
        size_least[i] = $urandom_range(1) == 0 ? 60 : $urandom_range(1514, 60);
        size_most[i] = $urandom_range(1) == 0 ? size_least[i] : $urandom_range(9014, size_least[i]);
      end
      for (int i = 0; i < 60; i++) begin
        q = $urandom_range(used - 1);
        case ($urandom_range(
            9
        ))
          0: enable(q, $urandom_range(1) == 1);
          1: register(0, q, 0);
          2: produce(q, 0);
          default: produce(q, $urandom_range(12));  // sometimes a doorbell for nothing
        endcase
        repeat ($urandom_range(1) * $urandom_range(20)) @(posedge clk);
      end
      drain();
    end
    if (empties == 0) begin  // no doorbell for nothing was drawn
      produce(0, 0);
      drain();
    end
    if (empties == 0) $fatal(1, "FAIL: no grant ever found nothing");
  endtask

  // All queues (that are `endless`) always have work, for so many clocks; what each has sent is counted from then on.
  task automatic overload(int clocks);
    for (int i = 0; i < clocks; i++) begin
      @(negedge clk);
      for (int q = 0; q < Queues; q++) begin
        if (backlog[q] < 16 && endless[q]) begin
          produced += 64;
          if (backlog[q] == 0) i_doorbell.queue.push_back(queue_t'(q));
          backlog[q] += 64;
        end
      end
    end
  endtask
  task automatic stop();  // no more work
    for (int q = 0; q < Queues; q++) begin
      produced -= backlog[q];
      backlog[q] = 0;
    end
  endtask

  initial begin
    for (int q = 0; q < Queues; q++) begin
      {backlog[q], inflight[q], has_since[q], outstanding[q], enabled[q], allowance[q]} = '0;
      {sent_bytes[q], granted_bytes[q], granted_packets[q]} = '0;
      {size_least[q], size_most[q]} = {32'd60, 32'd1514};
      {shares[q], priorities[q]} = '0;
      endless[q] = 1;
    end
  end
endmodule

`endif

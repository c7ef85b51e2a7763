// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// irq_moderate: every vector that went in comes out afterwards, never sooner than its interval after the one before, and
/// not much later than it must, whatever else arrives; unmoderated vectors pass one a clock; a blocked output merges but loses nothing.
module irq_moderate_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(300_000)
  localparam int Vectors = 6;

  reg_if regs ();
  `STREAM_ON(queue_t, in, clk, rst)
  `STREAM_ON(queue_t, out, clk, rst)
  irq_moderate #(
      .Vectors(Vectors)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .*
  );

  int unsigned
      in_percent = 0, out_percent = 100, now = 0, ins = 0, outs = 0, merged = 0, slack = 60;
  int flood = -1;  // the only vector that arrives
  int unsigned interval[Vectors+1], last[Vectors+1], owed_since[Vectors+1];
  int unsigned arrived[Vectors+1], unanswered[Vectors+1], shown_since = 0;
  logic owed[Vectors+1], seen[Vectors+1], shown = 0;
  logic [31:0] rdata;

  `STREAM_SOURCE(queue_t, i_in, in, 100)
  `STREAM_SINK(queue_t, i_out, out, out_percent)

  // An arrival reaches `out` 3 clocks later at the earliest: what is shown there sooner is the answer to an earlier one.
  always @(posedge clk) begin
    now++;
    if (in.valid && in.ready && !rst && in.data < Vectors) begin
      ins++;
      if (!owed[in.data]) owed_since[in.data] = now;
      else merged++;
      owed[in.data] = 1;
      arrived[in.data] = now;
      unanswered[in.data]++;
    end
    if (out.valid && !shown) shown_since = now;
    shown = out.valid && !out.ready;
    if (out.valid && out.ready && !rst) begin
      int v;
      v = int'(out.data);
      outs++;
      `CHECK(v < Vectors && unanswered[v] != 0, "an interrupt nobody asked for")
      unanswered[v]--;
      // The interval is between the clocks from which they stand at `out`, however long they do.
      if (seen[v])
        `CHECK(shown_since - last[v] >= interval[v], $sformatf(
               "vector %0d after %0d clocks", v, shown_since - last[v]))
      seen[v] = 1;
      last[v] = shown_since;
      owed_since[v] = now;
      if (shown_since >= arrived[v] + 3) begin
        owed[v] = 0;
        unanswered[v] = 0;
      end
    end
    if (out_percent == 100)
      for (int v = 0; v < Vectors; v++)
      if (owed[v])
        `CHECK(now - owed_since[v] <= interval[v] + slack, $sformatf("vector %0d is late", v))
    if (i_in.queue.size() == 0 && $urandom_range(99) < in_percent)
      i_in.queue.push_back(queue_t'(flood >= 0 ? flood : $urandom_range(Vectors)));
  end

  `REG_MASTER(24, i_regs, regs)
  task automatic register(logic write, int v, logic [31:0] d);
    i_regs.access(write, 24'(v * 4), d, 4'hF);
    rdata = i_regs.rdata;
  endtask

  task automatic drain();
    in_percent = 0;
    repeat (500) @(posedge clk);
    for (int v = 0; v < Vectors; v++) owed_since[v] = now;
    out_percent = 100;
    repeat (500) @(posedge clk);
    for (int v = 0; v < Vectors; v++) `CHECK(!owed[v], $sformatf("vector %0d was lost", v))
  endtask

  initial begin
    int unsigned start;
    for (int v = 0; v <= Vectors; v++) {interval[v], owed[v], seen[v], unanswered[v]} = '0;
    @(negedge rst);
    repeat (10) @(posedge clk);
    in_percent = 100;
    repeat (10) @(posedge clk);
    start = i_in.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_in.taken - start >= 999, $sformatf(
           "only %0d vectors in 1000 clocks", i_in.taken - start))
    drain();
    for (int round = 0; round < 60; round++) begin
      for (int v = 0; v <= Vectors; v++) begin
        interval[v] = $urandom_range(3) == 0 ? 0 : $urandom_range(200);
        register(1, v, interval[v]);
        register(0, v, 0);
        `CHECK(rdata == (v < Vectors ? interval[v] : 0), "interval reads back wrong")
        seen[v] = 0;
      end
      out_percent = $urandom_range(2) == 0 ? $urandom_range(80, 1) : 100;
      in_percent  = $urandom_range(2) == 0 ? 100 : $urandom_range(20, 1);
      repeat (60) begin
        automatic int v = $urandom_range(Vectors);
        register(0, v, 0);
        `CHECK(rdata == (v < Vectors ? interval[v] : 0), "another interval while vectors come in")
        repeat ($urandom_range(20)) @(posedge clk);
      end
      if (out_percent == 100) begin
        in_percent = 100;
        flood = $urandom_range(Vectors - 1);
        repeat (300) @(posedge clk);
        flood = -1;
      end
      drain();
    end
    `CHECK(outs > 5000 && merged > 5000, "the test did not do its work")
    out_percent = 0;
    in_percent  = 100;
    while (!out.valid) @(posedge clk);
    rst = 1;
    repeat (2) @(posedge clk);
    `CHECK(!out.valid, "an interrupt outlives a reset")
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// dma_mux: content and order of each client, its number in `sel`, class priority, turns within a class, one a clock.
module dma_mux_tb;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int N = 6;
  localparam logic [N-1:0] High = 6'b110010;

  `STREAM_ON(dma_req_t, in[N], clk, rst)
  `STREAM_ON(dma_req_t, out, clk, rst)
  dma_mux #(
      .N(N),
      .High(High)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out
  );

  int unsigned percent[N], out_percent = 100, moved = 0, served[N];
  dma_req_t sent[N][16];  // the last ones each client sent
  int unsigned sends[N], gets[N];
  logic [N-1:0] waiting, waiting_q;
  int last[2] = '{default: -1};

  for (genvar i = 0; i < N; i++) begin : g_client
    assign waiting[i] = in[i].valid;
    always @(posedge clk) begin
      if (in[i].valid && in[i].ready && !rst) begin
        sent[i][sends[i]%16] <= in[i].data;
        sends[i] <= sends[i] + 1;
      end
    end
    stream_source #(
        .T(dma_req_t),
        .Endless(1)
    ) i_source (
        .on(in[i]),
        .percent(percent[i])
    );
  end

  `STREAM_SINK(dma_req_t, i_sink, out, out_percent)
  dma_req_t want;
  bit fresh;  // the beat at the output was chosen in the last clock
  always @(posedge clk) begin
    if (!rst && out.valid) begin
      automatic int who = int'(out.data.sel);
      `CHECK(who < N, "no such client")
      if (fresh) begin
        automatic bit high = High[who];
        `CHECK(waiting_q[who], "chose a client that had nothing")
        `CHECK(high || (waiting_q & High) == '0, "low class before high class")
        // Nobody of the class that stands between the last one served (after a reset: the lowest) and this one waited.
        for (int step = 1; step <= N; step++) begin
          automatic int other = (last[high] + step) % N;
          if (other == who) break;
          if (High[other] == high) `CHECK(!waiting_q[other], "passed a client by")
        end
        last[high] = who;
      end
      if (out.ready) begin
        `CHECK(gets[who] < sends[who], "a request nobody made")
        want = sent[who][gets[who]%16];
        gets[who]++;
        want.sel = ram_sel_t'(who);
        `CHECK(out.data == want, "wrong request")
        moved++;
        served[who]++;
      end
    end
    if (rst) last = '{default: -1};
    fresh = !out.valid || out.ready;
    waiting_q = waiting;
  end

  initial begin
    int unsigned start;
    foreach (percent[i]) percent[i] = High[i] ? 0 : 100;
    @(negedge rst);
    repeat (10) @(posedge clk);
    start = moved;
    foreach (served[i]) served[i] = 0;
    repeat (3000) @(posedge clk);
    $display("%0d requests in 3000 clocks", moved - start);
    `CHECK(moved - start == 3000, "less than one request a clock")
    foreach (served[i]) if (!High[i]) `CHECK(served[i] inside {[999 : 1001]}, "no fair turns")
    for (int i = 0; i < 60; i++) begin
      foreach (percent[k]) percent[k] = $urandom_range(100);
      if ($urandom_range(2) != 0) foreach (percent[k]) if (High[k]) percent[k] = $urandom_range(20);
      out_percent = $urandom_range(100, 10);
      repeat (500) @(posedge clk);
    end
    foreach (percent[k]) percent[k] = 0;
    out_percent = 100;
    repeat (20) @(posedge clk);
    foreach (gets[k]) `CHECK(gets[k] == sends[k] && gets[k] > 100, "requests were lost")
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// arb_rr and spill_reg behind it: every beat arrives once and in order of its input; the input after the last one served
/// goes first (from input 0 after a reset), a choice stays until it is taken; one beat a clock.
module arb_rr_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int N = 5;
  typedef struct packed {
    logic [7:0]  source;
    logic [23:0] number;
  } beat_t;

  `STREAM_ON(beat_t, in[N], clk, rst)
  `STREAM_ON(beat_t, chosen, clk, rst)
  `STREAM_ON(beat_t, out, clk, rst)
  logic [2:0] index;
  arb_rr #(
      .T(beat_t),
      .N(N)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out(chosen),
      .index_o(index)
  );
  spill_reg #(
      .T(beat_t)
  ) i_spill (
      .clk_i(clk),
      .rst_i(rst),
      .in(chosen),
      .out
  );

  int unsigned in_percent[N], out_percent = 100;
  int unsigned next_number[N];
  logic [N-1:0] valid;

  for (genvar i = 0; i < N; i++) begin : g_in
    logic [23:0] number = 0;
    `STREAM_SOURCE(beat_t, i_source, in[i], in_percent[i])
    assign valid[i] = in[i].valid;
    always @(posedge clk) begin
      if (i_source.queue.size() == 0) begin
        i_source.queue.push_back('{source: 8'(i), number: number});
        number++;
      end
    end
  end

  int unsigned first = 0, choice;
  bit kept = 0;
  always @(posedge clk) begin
    if (rst) begin
      first = 0;
      kept  = 0;
    end else begin
      `CHECK(chosen.valid == |valid, "something waits and nothing is chosen")
      if (chosen.valid) begin
        if (!kept) begin
          choice = first;
          while (!valid[choice]) choice = (choice + 1) % N;
        end
        `CHECK(int'(index) == choice, "out of turn")
        kept = !chosen.ready;
        if (chosen.ready) first = (choice + 1) % N;
      end
    end
  end

  `STREAM_SINK(beat_t, i_sink, out, out_percent)
  always @(posedge clk) begin
    if (out.valid && out.ready && !rst) begin
      `CHECK(24'(next_number[out.data.source]) == out.data.number, "lost, doubled or reordered")
      next_number[out.data.source]++;
    end
  end

  initial begin
    int unsigned start;
    foreach (in_percent[i]) in_percent[i] = 100;
    @(negedge rst);
    repeat (10) @(posedge clk);
    start = i_sink.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_sink.taken - start >= 999, "not one beat a clock")
    for (int i = 0; i < 30; i++) begin
      foreach (in_percent[k]) in_percent[k] = $urandom_range(100);
      out_percent = $urandom_range(100, 1);
      repeat (300) @(posedge clk);
    end
    `TB_PASS
  end
endmodule

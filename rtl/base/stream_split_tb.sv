// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// stream_fork with a stream_demux behind each output: every beat reaches each fork output once, and there the one demux
/// output it names, in order, whoever waits; one beat a clock when all are ready.
module stream_split_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Forks = 3;
  localparam int Ways = 5;
  typedef struct packed {
    logic [2:0]  way;
    logic [28:0] number;
  } beat_t;

  `STREAM_ON(beat_t, in, clk, rst)
  `STREAM_ON(beat_t, split[Forks], clk, rst)
  stream_fork #(
      .T(beat_t),
      .N(Forks)
  ) i_fork (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out  (split)
  );

  int unsigned in_percent = 100, out_percent = 100, sent = 0, given = 0;
  int unsigned taken[Forks];

  `STREAM_SOURCE(beat_t, i_source, in, in_percent)
  always @(posedge clk) begin
    if (!rst && in.valid && in.ready) sent++;
    if (i_source.queue.size() == 0) begin
      i_source.queue.push_back('{way: 3'($urandom_range(Ways - 1)), number: 29'(given)});
      given++;
    end
  end

  for (genvar f = 0; f < Forks; f++) begin : g_fork
    `STREAM_ON(beat_t, out[Ways], clk, rst)
    stream_demux #(
        .T(beat_t),
        .N(Ways)
    ) i_demux (
        .clk_i(clk),
        .rst_i(rst),
        .in(split[f]),
        .select_i(split[f].data.way),
        .out
    );
    logic [Ways-1:0] valid;
    for (genvar w = 0; w < Ways; w++) begin : g_way
      assign valid[w] = out[w].valid;
      `STREAM_SINK(beat_t, i_sink, out[w], out_percent)
      always @(posedge clk) begin
        if (!rst && out[w].valid && out[w].ready) begin
          `CHECK(out[w].data.way == 3'(w), "at a way that the beat does not name")
          `CHECK(out[w].data.number == 29'(taken[f]), "lost, doubled or reordered")
          taken[f] = taken[f] + 1;
        end
      end
    end
    always @(posedge clk) `CHECK($onehot0(valid), "one beat at two ways")
  end

  // What an output took early, the input still holds: no output is more than a beat ahead.
  always @(posedge clk)
    for (int f = 0; f < Forks; f++)
      `CHECK(rst || (taken[f] + 1 >= sent && taken[f] <= sent + 1),
             "an output is behind, or ahead by more than the beat that waits")

  initial begin
    int unsigned start;
    @(negedge rst);
    repeat (10) @(posedge clk);
    start = sent;
    repeat (1000) @(posedge clk);
    `CHECK(sent - start >= 999, "not one beat a clock")
    for (int i = 0; i < 30; i++) begin
      in_percent  = $urandom_range(100);
      out_percent = $urandom_range(100, 1);
      repeat (300) @(posedge clk);
    end
    in_percent  = 0;
    out_percent = 100;
    repeat (20) @(posedge clk);
    for (int f = 0; f < Forks; f++) `CHECK(taken[f] == sent && sent > 1000, "beats left behind")
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// message_merge with three inputs and with four: no word is lost, messages are whole though inputs pause inside them, no
/// input waits for more than one message of every other, and a word goes in each clock while there are some.
module message_merge_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  logic [1:0] done;
  int unsigned made[2];
  for (genvar s = 0; s < 2; s++) begin : g_side
    message_merge_side_tb #(
        .N(3 + s)
    ) i_side (
        .clk,
        .rst,
        .done_o  (done[s]),
        .checks_o(made[s])
    );
  end
  `TB_PASS_WITH(done, made)
endmodule

/// One of them.
module message_merge_side_tb
  import mesh_pkg::*;
#(
    parameter int N = 3
) (
    input logic clk,
    input logic rst,
    output logic done_o,
    output int unsigned checks_o
);
  int unsigned checks = 0;
  assign checks_o = checks;
  int unsigned percent = 100, out_percent = 100, most_words = 3;
  `STREAM_ON(word_t, in[N], clk, rst)
  `STREAM_ON(word_t, out, clk, rst)
  message_merge #(
      .N(N)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out
  );
  `STREAM_SINK(word_t, i_out, out, out_percent)

  // Words say whose they are.
  logic [N-1:0] valid, moved;
  for (genvar i = 0; i < N; i++) begin : g_in
    `STREAM_SOURCE(word_t, i_source, in[i], percent)
    assign valid[i] = in[i].valid;
    assign moved[i] = in[i].valid && in[i].ready && !rst;
    always @(posedge clk) begin
      if (i_source.queue.size() < 4) begin
        automatic header_t h = header_t'($urandom());
        h.user = 5'(i);
        h.len  = 5'($urandom_range(most_words));
        i_source.queue.push_back(h);
        repeat (int'(h.len)) i_source.queue.push_back({5'(i), 27'($urandom())});
      end
      if (moved[i]) `CHECK(out.valid && out.ready && out.data == in[i].data, "a word is lost")
    end
  end

  int owner = 0, left = 0, begun[N][N] = '{default: 0};  // messages while it waits, of each
  int unsigned messages[N] = '{default: 0};
  header_t header;
  assign header = out.data;
  always @(posedge clk)
    if (!rst && out.valid && out.ready) begin
      if (left == 0) begin
        owner = int'(header.user);
        left  = int'(header.len) + 1;
        messages[owner]++;
        for (int i = 0; i < N; i++) begin
          begun[owner][i] = 0;
          if (valid[i] && i != owner) begin
            begun[i][owner]++;
            `CHECK(begun[i][owner] <= 1, $sformatf("input %0d waits", i))
          end
        end
      end
      left--;
      `CHECK(moved == N'(1) << owner, "a word of another message, or twice")
    end

  initial begin
    int unsigned start;
    done_o = 0;
    @(negedge rst);
    for (int round = 0; round < 40; round++) begin
      most_words = $urandom_range(31);
      percent = $urandom_range(100, 20);
      out_percent = $urandom_range(100, 20);
      repeat (200) @(posedge clk);
    end
    {percent, out_percent} = {32'd100, 32'd100};
    repeat (40) @(posedge clk);
    start = i_out.taken;
    repeat (300) @(posedge clk);
    `CHECK(i_out.taken - start >= 299, $sformatf("%0d words in 300 clocks", i_out.taken - start))
    for (int i = 0; i < N; i++) `CHECK(messages[i] > 20, "there were messages")
    done_o = 1;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// stream_order: beats of three inputs that come when they like leave in the order that was told, none lost or doubled, one a clock
/// where all are there; nothing is taken for a number that has not been told.
module stream_order_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int N = 3;
  typedef logic [15:0] beat_t;

  `STREAM_ON(beat_t, in[N], clk, rst)
  `STREAM_ON(logic [1:0], order, clk, rst)
  `STREAM_ON(beat_t, out, clk, rst)
  stream_order #(
      .T(beat_t),
      .N(N)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .*
  );

  int unsigned percent[N], order_percent = 100, out_percent = 100, left = 0;
  for (genvar i = 0; i < N; i++) begin : g_in
    `STREAM_SOURCE(beat_t, i_in, in[i], percent[i])
  end
  `STREAM_SOURCE(logic [1:0], i_order, order, order_percent)
  `STREAM_CHECK(beat_t, i_out, out, out_percent)
  always @(posedge clk) if (!rst && out.valid && out.ready) left++;

  task automatic send(int unsigned beats);
    for (int unsigned n = 0; n < beats; n++) begin
      automatic int unsigned from = $urandom_range(N - 1);
      automatic beat_t beat = beat_t'($urandom());
      case (from)
        0: g_in[0].i_in.queue.push_back(beat);
        1: g_in[1].i_in.queue.push_back(beat);
        default: g_in[2].i_in.queue.push_back(beat);
      endcase
      i_order.queue.push_back(2'(from));
      i_out.expected.push_back(beat);
    end
    while (i_out.expected.size() != 0) @(posedge clk);
  endtask

  initial begin
    percent = '{default: 100};
    @(negedge rst);
    for (int round = 0; round < 20; round++) begin
      for (int i = 0; i < N; i++) percent[i] = $urandom_range(100, 10);
      order_percent = $urandom_range(100, 10);
      out_percent   = $urandom_range(100, 10);
      send(200);
    end
    percent = '{default: 100};
    {order_percent, out_percent} = {32'd100, 32'd100};
    fork
      send(500);
    join_none
    repeat (10) @(posedge clk);
    left = 0;
    repeat (400) @(posedge clk);
    `CHECK(left == 400, "less than a beat a clock")
    wait fork;
    // A beat without its number.
    g_in[1].i_in.queue.push_back(16'hbeef);
    left = 0;
    repeat (50) @(posedge clk);
    `CHECK(left == 0 && in[1].valid && !in[1].ready, "taken before its turn")
    i_order.queue.push_back(2'd1);
    i_out.expected.push_back(16'hbeef);
    repeat (5) @(posedge clk);
    `CHECK(left == 1, "not taken in its turn")
    `TB_PASS
  end
endmodule

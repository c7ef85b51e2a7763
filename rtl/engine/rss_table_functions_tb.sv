// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rss_table with `Functions`: each function's frames go by its own entries to its own queues, whatever is written anywhere.
module rss_table_functions_tb;
  import engine_pkg::*, queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  `STREAM_ON(rx_meta_t, in, clk, rst)
  `STREAM_ON(rx_meta_t, out, clk, rst)
  reg_if regs ();
  localparam int Functions = 8, Each = 16, Queues = 4;
  logic refused;
  rss_table #(
      .Entries(Functions * Each),
      .Queues(Queues),
      .Functions(Functions)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .refused_o(refused),
      .in,
      .out
  );
  queue_t model[Functions*Each] = '{default: 0};
  int unsigned refusals = 0, percent = 0;
  stream_source #(
      .T(rx_meta_t)
  ) i_in (
      .on(in),
      .percent(percent)
  );
  `STREAM_CHECK(rx_meta_t, i_out, out, percent)
  `REG_MASTER(24, i_regs, regs)
  always @(posedge clk) if (refused && !rst) refusals++;

  initial begin
    int unsigned want_refused = 0;
    @(negedge rst);
    repeat (300) @(posedge clk);
    for (int round = 0; round < 40; round++) begin
      for (int i = 0; i < 30; i++) begin
        automatic int unsigned at = $urandom_range(Functions * Each - 1), queue = $urandom_range(5);
        i_regs.write(24'(4 * at), queue);
        if (queue < Queues) model[at] = queue_t'(queue);
        else want_refused++;
      end
      percent = $urandom_range(100, 30);
      for (int i = 0; i < 200; i++) begin
        automatic rx_meta_t m = random_value#(rx_meta_t)::bits();
        m.info.owner = eth_pkg::owner_t'($urandom_range(Functions - 1));
        m.info.steered.hit = $urandom_range(9) == 0;
        if ($urandom_range(4) == 0) m.info.hash_type = '0;
        i_in.queue.push_back(m);
        m.queue = 16'(m.info.owner) * Queues + model[int'(m.info.owner) * Each +
            (m.info.hash_type == 0 ? 0 : int'(m.info.hash % Each))];
        if (m.info.steered.hit) m.queue = m.info.steered.queue;
        i_out.expected.push_back(m);
      end
      while (i_out.expected.size() != 0) @(posedge clk);
      @(posedge clk);
    end
    `CHECK(refusals == want_refused && refusals > 50, "queues that a function does not have")
    `TB_PASS
  end
endmodule

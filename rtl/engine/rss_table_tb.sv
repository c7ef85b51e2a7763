// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rss_table: each frame goes to the queue of its entry, also while entries change and frames stand still; registers read back;
/// entries and queues that do not exist are refused, and nobody's; one frame a clock.
module rss_table_tb;
  import engine_pkg::*, queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)

  `STREAM_ON(rx_meta_t, in, clk, rst)
  `STREAM_ON(rx_meta_t, out, clk, rst)
  reg_if regs ();
  localparam int Entries = 256;
  localparam int IndexW = 8;
  localparam int Queues = 1024;
  logic refused;
  rss_table #(
      .Entries(Entries),
      .Queues (Queues)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .refused_o(refused),
      .in,
      .out
  );

  queue_t model[Entries];
  int unsigned refusals = 0, expected_refusals = 0;
  int unsigned in_percent = 100, out_percent = 100, without_hash = 0;
  stream_source #(
      .T(rx_meta_t),
      .Endless(1)
  ) i_in (
      .on(in),
      .percent(in_percent)
  );
  `STREAM_CHECK(rx_meta_t, i_out, out, out_percent)
  `REG_MASTER(24, i_regs, regs)
  // An entry changes with its access's ack; the frame taken in that clock still sees the old one.
  always @(posedge clk) begin
    if (in.valid && in.ready && !rst) begin
      rx_meta_t m;
      m = in.data;
      m.queue = model[m.info.hash_type==0?'0 : m.info.hash[IndexW-1:0]];
      if (m.info.hash_type == 0) without_hash++;
      if (m.info.steered.hit) m.queue = m.info.steered.queue;
      i_out.expected.push_back(m);
    end
    if (refused && !rst) refusals++;
    if (regs.ack && i_regs.is_write && !rst) begin
      queue_t written;
      for (int i = 0; i < 2; i++) written[8*i+:8] = i_regs.wstrb[i] ? i_regs.wdata[8*i+:8] : '0;
      if (i_regs.addr >= 24'(4 * Entries) || 32'(written) >= Queues) expected_refusals++;
      else
        for (int i = 0; i < 2; i++)
        if (i_regs.wstrb[i]) model[i_regs.addr[IndexW+1:2]][8*i+:8] = written[8*i+:8];
    end
  end

  task automatic access (bit write, logic [IndexW-1:0] at, logic [31:0] data, logic [3:0] lanes);
    i_regs.access(write, 24'({at, 2'b00}), data, lanes);
    if (!write)
      `CHECK(i_regs.rdata == 32'(model[at]), $sformatf(
             "entry %0d reads %h, not %h", at, i_regs.rdata, model[at]))
  endtask

  initial begin
    int unsigned start;
    logic [31:0] rdata;
    foreach (model[i]) model[i] = 0;
    refusals = 0;
    in_percent = 100;
    out_percent = 100;
    @(negedge rst);
    repeat (10) @(posedge clk);
    access (1, 8'd5, 32'hffff0234, 4'hf);  // waits for the table to be cleared
    access (1, 8'd5, 32'h0400, 4'hf);
    access (1, 8'd5, 32'h0401, 4'h1);  // the byte that would be too much is not written
    access (1, 8'd5, 32'h0fff, 4'h2);
    access (0, 8'd5, 0, 0);
    `CHECK(i_regs.rdata == 32'h0201 && refusals == 2, "a queue that does not exist")
    for (int i = 0; i < Entries; i++) access (0, 8'(i), 0, 0);
    for (int i = 0; i < Entries; i++) access (1, 8'(i), $urandom_range(Queues - 1), 4'hf);
    for (int i = 0; i < Entries; i++) access (0, 8'(i), 0, 0);
    start = i_out.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_out.taken - start >= 999, $sformatf("%0d frames in 1000 clocks", i_out.taken - start))
    for (int i = 0; i < 20; i++) begin
      in_percent  = $urandom_range(100, 10);
      out_percent = $urandom_range(100, 10);
      repeat (50)
      access (1'($urandom()), 8'($urandom()), $urandom_range(Queues + 100), 4'($urandom()));
    end
    // Registers do not wait for frames that stand still.
    in_percent  = 100;
    out_percent = 0;
    repeat (20) @(posedge clk);
    for (int i = 0; i < 20; i++) access (i < 10, 8'(i), $urandom(), 4'hf);
    i_regs.write(24'(4 * Entries + 8), 1);
    i_regs.read(24'(4 * Entries + 8), rdata);
    @(posedge clk);
    `CHECK(rdata == 0 && refusals == expected_refusals && refusals > 3, $sformatf(
           "%0d writes refused of %0d", refusals, expected_refusals))
    access (0, 8'd2, 0, 4'hf);
    in_percent  = 0;
    out_percent = 100;
    repeat (20) @(posedge clk);
    `CHECK(i_out.expected.size() == 0 && without_hash > 20,
           "a frame was lost, or none was without hash")
    `TB_PASS
  end
endmodule

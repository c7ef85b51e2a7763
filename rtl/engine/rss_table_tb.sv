// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// rss_table: each frame goes to the queue of its entry, also while entries change; registers read back; one frame a clock.
module rss_table_tb;
  import engine_pkg::*, queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)

  `STREAM_ON(rx_meta_t, in, clk, rst)
  `STREAM_ON(rx_meta_t, out, clk, rst)
  reg_if regs ();
  rss_table dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .in,
      .out
  );

  queue_t   model[128];
  rx_meta_t want [  $];
  int unsigned moved = 0, in_percent = 100, out_percent = 100, without_hash = 0;

  // Accesses: an entry changes with its ack; the frame taken in that clock still sees the old one.
  bit writing, write_q;
  logic [ 6:0] entry;
  logic [31:0] value;
  logic [ 3:0] strb;
  always @(posedge clk) begin
    if (in.valid && in.ready && !rst) begin
      rx_meta_t m;
      m = in.data;
      m.queue = model[m.info.hash_type==0?7'd0 : m.info.hash[6:0]];
      if (m.info.hash_type == 0) without_hash++;
      want.push_back(m);
    end
    if (out.valid && out.ready && !rst) begin
      `CHECK(want.size() != 0 && out.data == want.pop_front(), "wrong frame or queue")
      moved++;
    end
    if (regs.ack && write_q && !rst) begin
      if (strb[0]) model[entry][7:0] = value[7:0];
      if (strb[1]) model[entry][15:8] = value[15:8];
    end
    if (regs.req) write_q <= regs.write;
    out.ready <= !rst && $urandom_range(99) < out_percent;
    if (!in.valid || in.ready) begin
      in.valid <= !rst && $urandom_range(99) < in_percent;
      in.data  <= {$urandom(), $urandom(), $urandom(), $urandom(), $urandom()};
    end
    if (rst) in.valid <= 0;
  end

  bit go = 0;
  always @(posedge clk) begin
    regs.req <= go && !regs.req;
    if (go) begin
      regs.write <= writing;
      regs.addr  <= 24'({entry, 2'b00});
      regs.wdata <= value;
      regs.wstrb <= strb;
    end
    go = 0;
    if (rst) regs.req <= 0;
  end

  task automatic access (bit write, logic [6:0] at, logic [31:0] data, logic [3:0] lanes);
    writing = write;
    entry = at;
    value = data;
    strb = lanes;
    go = 1;
    do @(posedge clk); while (!regs.ack);
    if (!write)
      `CHECK(regs.rdata == 32'(model[at]), $sformatf(
             "entry %0d reads %h, not %h", at, regs.rdata, model[at]))
    @(posedge clk);
  endtask

  initial begin
    int unsigned start;
    foreach (model[i]) model[i] = 0;
    @(negedge rst);
    repeat (10) @(posedge clk);
    access (1, 7'd5, 32'h1234, 4'hf);  // waits for the table to be cleared
    for (int i = 0; i < 128; i++) access (0, 7'(i), 0, 0);
    for (int i = 0; i < 128; i++) access (1, 7'(i), $urandom(), 4'hf);
    for (int i = 0; i < 128; i++) access (0, 7'(i), 0, 0);
    start = moved;
    repeat (1000) @(posedge clk);
    `CHECK(moved - start >= 999, $sformatf("%0d frames in 1000 clocks", moved - start))
    for (int i = 0; i < 20; i++) begin
      in_percent  = $urandom_range(100, 10);
      out_percent = $urandom_range(100, 10);
      repeat (50) access (1'($urandom()), 7'($urandom()), $urandom(), 4'($urandom()));
    end
    in_percent  = 0;
    out_percent = 100;
    repeat (20) @(posedge clk);
    `CHECK(want.size() == 0 && without_hash > 20, "a frame was lost, or none was without hash")
    `TB_PASS
  end
endmodule

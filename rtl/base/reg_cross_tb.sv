// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// reg_cross with a slave of random delay and clocks of random ratio: order, content, one access at a time, answers of reads;
/// then the rate of posted writes, and that a read comes after all of them.
module reg_cross_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int AddrW = 20;
  int unsigned core_half = 3, slow = 0;
  logic core_clk = 0;
  initial forever #(core_half) core_clk = !core_clk;

  reg_if #(.AddrW(AddrW)) host ();
  reg_if #(.AddrW(AddrW)) core ();
  reg_cross #(
      .AddrW(AddrW)
  ) dut (
      .in_clk_i(clk),
      .in_rst_i(rst),
      .in(host),
      .out_clk_i(core_clk),
      .out_rst_i(rst),
      .out(core)
  );

  typedef struct {
    bit write;
    logic [AddrW-1:0] addr;
    logic [31:0] data;
    logic [3:0] strb;
  } access_t;
  access_t sent[$];
  logic [31:0] memory[64], want[64];

  // Slave.
  int unsigned delay = 0;
  bit busy = 0;
  access_t now, should;
  always @(posedge core_clk) begin
    core.ack <= 0;
    if (core.req && !rst) begin
      `CHECK(!busy && sent.size() != 0, "an access nobody made, or two at a time")
      should = sent.pop_front();
      now = '{write: core.write, addr: core.addr, data: core.wdata, strb: core.wstrb};
      `CHECK(
          now.write == should.write && now.addr == should.addr && (!now.write || (now.data == should.data && now.strb == should.strb)),
          "another access than was made")
      busy  = 1;
      delay = $urandom_range(slow);
    end
    if (busy) begin
      if (delay == 0) begin
        if (now.write) begin
          for (int i = 0; i < 4; i++)
          if (now.strb[i]) memory[now.addr[7:2]][8*i+:8] = now.data[8*i+:8];
        end
        core.ack   <= 1;
        core.rdata <= now.write ? 'x : memory[now.addr[7:2]];
        busy = 0;
      end else delay--;
    end
  end

  // Master: one access after the other.
  int unsigned percent = 100, write_percent = 50, writes = 0, reads = 0;
  bit waiting = 0, go = 0;
  access_t mine;
  always @(posedge clk) begin
    host.req <= 0;
    if (!rst) begin
      if (host.ack) begin
        `CHECK(waiting, "an answer nobody waits for")
        waiting = 0;
        if (!mine.write) begin
          `CHECK(host.rdata == want[mine.addr[7:2]], "a read does not see the writes before it")
          reads++;
        end else writes++;
      end
      if (!waiting && go && $urandom_range(99) < percent) begin
        mine = '{
            write: $urandom_range(99) < write_percent,
            addr: AddrW'($urandom_range(63) * 4 + ($urandom_range(255) << 8)),
            data: $urandom(),
            strb: 4'($urandom_range(15))
        };
        if (mine.write)
          for (int i = 0; i < 4; i++)
          if (mine.strb[i]) want[mine.addr[7:2]][8*i+:8] = mine.data[8*i+:8];
        sent.push_back(mine);
        host.req   <= 1;
        host.write <= mine.write;
        host.addr  <= mine.addr;
        host.wdata <= mine.data;
        host.wstrb <= mine.strb;
        waiting = 1;
      end
    end
  end

  initial begin
    int unsigned start;
    foreach (memory[i]) begin
      memory[i] = $urandom();
      want[i]   = memory[i];
    end
    @(negedge rst);
    repeat (10) @(posedge clk);
    go = 1;
    for (int i = 0; i < 20; i++) begin
      slow = $urandom_range(8);
      core_half = $urandom_range(11, 1);
      percent = $urandom_range(100, 10);
      write_percent = $urandom_range(100);
      repeat (1000) @(posedge clk);
    end
    `CHECK(reads > 300 && writes > 300, "too few accesses")
    // Posted writes: a request, an answer in the next clock but one; the slave takes three clocks of a fast clock.
    percent = 100;
    write_percent = 100;
    slow = 0;
    core_half = 1;
    repeat (200) @(posedge clk);
    start = writes;
    repeat (900) @(posedge clk);
    `CHECK(writes - start >= 299, $sformatf("%0d writes in 900 clocks", writes - start))
    go = 0;
    repeat (200) @(posedge clk);
    `CHECK(sent.size() == 0 && !waiting, "accesses were lost")
    `TB_PASS
  end
endmodule

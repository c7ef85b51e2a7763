// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// reg_cross with a slave of random delay and clocks of random ratio: order, content, one access at a time, answers of reads;
/// then the rate of posted writes, and that a read comes after all of them.
module reg_cross_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int AddrW = 20;
  int unsigned core_half = 3, slave_percent = 100, percent = 0, write_percent = 50;
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
  reg_traffic #(
      .AddrW (AddrW),
      .Words (64),
      .Spread(20'hff00)
  ) i_master (
      .clk,
      .rst,
      .on(host),
      .percent,
      .write_percent
  );
  reg_memory i_slave (
      .clk(core_clk),
      .rst,
      .on(core),
      .percent(slave_percent)
  );
  always @(posedge clk)
    if (host.req && !rst)
      sent.push_back('{write: host.write, addr: host.addr, data: host.wdata, strb: host.wstrb});
  always @(posedge core_clk)
    if (core.req && !rst) begin
      access_t should;
      `CHECK(sent.size() != 0, "an access nobody made")
      should = sent.pop_front();
      `CHECK(
          core.write == should.write && core.addr == should.addr && (!core.write || (core.wdata == should.data && core.wstrb == should.strb)),
          "another access than was made")
    end

  initial begin
    int unsigned start;
    foreach (i_slave.words[i]) begin
      i_slave.words[i]  = $urandom();
      i_master.words[i] = i_slave.words[i];
    end
    @(negedge rst);
    repeat (10) @(posedge clk);
    for (int i = 0; i < 20; i++) begin
      slave_percent = $urandom_range(100, 20);
      core_half = $urandom_range(11, 1);
      percent = $urandom_range(100, 10);
      write_percent = $urandom_range(100);
      repeat (1000) @(posedge clk);
    end
    `CHECK(i_master.reads > 300 && i_master.writes > 300, "too few accesses")
    // Posted writes: a request, an answer in the next clock but one; the slave takes three clocks of a fast clock.
    percent = 100;
    write_percent = 100;
    slave_percent = 100;
    core_half = 1;
    repeat (200) @(posedge clk);
    start = i_master.writes;
    repeat (900) @(posedge clk);
    `CHECK(i_master.writes - start >= 299, $sformatf(
           "%0d writes in 900 clocks", i_master.writes - start))
    percent = 0;
    repeat (200) @(posedge clk);
    `CHECK(sent.size() == 0 && !i_master.open, "accesses were lost")
    `TB_PASS
  end
endmodule

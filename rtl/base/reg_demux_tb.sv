// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// reg_demux: each access reaches the one slave whose region it is in, with the offset in that region, and none is left
/// without an answer; writes that follow each other at once come in their order, and with AtOnce one a clock: to a slave that takes its time
/// as many as are held.
module reg_demux_tb #(
    parameter bit AtOnce = 0,
    parameter int Held   = 2
);
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int N = 3, AddrW = 16;
  localparam logic [N-1:0][AddrW-1:0] Base = '{16'h8000, 16'h1000, 16'h0000};
  localparam logic [N-1:0][AddrW-1:0] Size = '{16'h4000, 16'h0100, 16'h1000};

  reg_if #(.AddrW(AddrW)) in ();
  reg_if #(.AddrW(AddrW)) out[N] ();
  logic unmapped;
  reg_demux #(
      .N(N),
      .AddrW(AddrW),
      .AtOnce(AtOnce),
      .Held(Held),
      .Base(Base),
      .Size(Size)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out,
      .unmapped_o(unmapped)
  );

  int unsigned unmapped_count = 0, unmapped_expected = 0;
  always @(posedge clk) if (unmapped && !rst) unmapped_count++;

  // A slave answers some clocks later, or in the clock of the request; number 1 always so, as long as `prompt` is set.
  bit prompt = 0;
  always @(negedge clk) if (prompt) g_slave[1].i_slave.at_once = 1;
  for (genvar i = 0; i < N; i++) begin : g_slave
    reg_memory #(
        .Words (2 ** (AddrW - 2)),
        .AtOnce(1)
    ) i_slave (
        .clk,
        .rst,
        .on(out[i]),
        .percent(50)
    );
  end

  `REG_MASTER(AddrW, i_master, in)

  initial begin
    logic [31:0] reference[int], rdata, value;
    logic [AddrW-1:0] addr;
    logic mapped;
    int unsigned start;
    @(negedge rst);
    @(posedge clk);
    for (int i = 0; i < 2000; i++) begin
      addr = AddrW'($urandom()) & 16'hfffc;
      if (i % 2 == 0) addr &= 16'h90fc;
      mapped = addr < 16'h1100 || (addr >= 16'h8000 && addr < 16'hc000);
      if ($urandom_range(1) == 1) begin
        value = $urandom();
        i_master.write(addr, value);
        if (mapped) reference[int'(addr)] = value;
      end else begin
        i_master.read(addr, rdata);
        `CHECK(rdata == (reference.exists(int'(addr)) ? reference[int'(addr)] : 32'd0),
               "wrong data read")
      end
      if (!mapped) unmapped_expected++;
    end
    for (int i = 0; i < 2000; i++) begin
      addr = (i % 3 == 0 ? 16'h0000 : i % 3 == 1 ? 16'h1000 : 16'h8000) |
          16'($urandom_range(15) * 4);
      value = $urandom();
      i_master.post(addr, value);
      reference[int'(addr)] = value;
      if (i % 100 == 99) begin
        i_master.read(addr, rdata);
        `CHECK(rdata == value, "a read overtook a write")
      end
    end
    for (int i = 0; i < 48; i++) begin
      addr = (i % 3 == 0 ? 16'h0000 : i % 3 == 1 ? 16'h1000 : 16'h8000) | 16'(i / 3 * 4);
      i_master.read(addr, rdata);
      `CHECK(rdata == reference[int'(addr)], "writes came in another order")
    end
    prompt = 1;
    repeat (4) @(posedge clk);
    for (int i = 0; i < 2000; i++) i_master.post(16'h1000 | 16'(i % 64 * 4), $urandom());
    repeat (10) @(posedge clk);
    start = i_master.posted;
    repeat (1000) @(posedge clk);
    $display("%0d writes in 1000 clocks", i_master.posted - start);
    `CHECK(i_master.posted - start == (AtOnce ? 1000 : 333), "the rate of writes")
    repeat (2000) @(posedge clk);
    // A burst to a slave that takes its time.
    for (int i = 0; i < 100; i++) i_master.post(16'h0000, $urandom());
    start = i_master.posted;
    repeat (Held + 1) @(posedge clk);
    $display("%0d writes of a burst", i_master.posted - start);
    `CHECK(!AtOnce || Held == 2 || i_master.posted - start >= Held, "as many as are held")
    repeat (1000) @(posedge clk);
    `CHECK(unmapped_count == unmapped_expected, "unmapped accesses miscounted")
    `TB_PASS
  end
endmodule

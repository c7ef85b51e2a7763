// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// reg_slot in front of a table that takes accesses when it likes and answers 2 clocks later: every access is done once, as it
/// was asked for, and answered with what the table then gives; writes of parts of a word change nothing. A reset forgets the
/// access under way, and its answer.
module reg_slot_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Words = 64;
  reg_if #(.AddrW(8)) regs ();
  logic waiting, write, take, taken_q = 0, answer = 0;
  logic [31:0] addr, wdata, rdata = '0;
  reg_slot dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs(regs),
      .waiting_o(waiting),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(wdata),
      .take_i(take),
      .answer_i(answer),
      .rdata_i(rdata)
  );

  // The table.
  logic turn = 0, closed = 0;
  logic [31:0] table_q[Words], model[Words];
  int unsigned takes = 0;
  assign take = waiting && turn;
  always @(negedge clk) turn = !closed && $urandom_range(3) == 0;
  always @(posedge clk) begin
    taken_q <= take && !rst;
    answer  <= taken_q;
    rdata   <= taken_q ? table_q[addr[7:2]] : $urandom;
    if (taken_q && write) table_q[addr[7:2]] <= wdata;
    if (take && !rst) takes++;
  end

  initial begin
    logic [5:0] word;
    for (int i = 0; i < Words; i++) begin
      table_q[i] = $urandom;
      model[i]   = table_q[i];
    end
    regs.req = 0;
    @(negedge rst);
    for (int n = 0; n < 3000; n++) begin
      repeat ($urandom_range(3)) @(negedge clk);
      @(negedge clk);
      word = 6'($urandom);
      regs.req = 1;
      regs.write = 1'($urandom);
      regs.addr = {word, 2'b00};
      regs.wdata = $urandom;
      regs.wstrb = $urandom_range(3) == 0 ? 4'($urandom) : '1;
      @(negedge clk);
      regs.req = 0;
      `CHECK(!regs.ack, "an answer before the table's")
      while (!regs.ack) @(negedge clk);
      `CHECK(regs.rdata == model[word], "read something else")
      if (regs.write && regs.wstrb == '1) model[word] = regs.wdata;
      `CHECK(takes == n + 1, "an access was not done once")
      regs.wdata = $urandom;
      @(negedge clk);
      `CHECK(!regs.ack, "two answers")
    end
    for (int i = 0; i < Words; i++) `CHECK(table_q[i] == model[i], "the table is wrong")
    for (int n = 0; n < 2; n++) begin
      closed = 1;
      @(negedge clk);
      regs.req   = 1;
      regs.write = 0;
      @(negedge clk);
      regs.req = 0;
      `CHECK(waiting, "the access does not wait")
      if (n == 1) begin
        closed = 0;
        while (!answer) @(negedge clk);
      end
      rst = 1;
      @(negedge clk);
      rst = 0;
      closed = 0;
      repeat (20) begin
        `CHECK(!waiting && !regs.ack, "an access outlives a reset")
        @(negedge clk);
      end
    end
    `TB_PASS
  end
endmodule

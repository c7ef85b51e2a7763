// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// boot_rom and a slave that answers when it likes: all words, in order and once, after each reset; done behind the last answer.
module boot_rom_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Words = 8;  // a power of two: the place behind the last one is not the first
  localparam int AddrW = 29;
  reg_if #(.AddrW(AddrW)) regs ();
  logic done;
  logic again = 1;
  boot_rom #(
      .Words(Words),
      .AddrW(AddrW)
  ) dut (
      .clk_i (clk),
      .rst_i (rst || again),
      .regs,
      .done_o(done)
  );

  int   wait_q = 0;  // clocks to the answer of the access that is under way; 0: there is none
  logic at_once = 0;
  assign regs.ack   = (regs.req && at_once) || wait_q == 1;
  assign regs.rdata = '0;
  int taken = 0;
  always @(posedge clk) begin
    if (regs.req && !rst && !again) begin
      `CHECK(wait_q == 0 && regs.write && regs.wstrb == '1,
             "an access before the answer, or no write")
      `CHECK(regs.addr == dut.rom[taken][32+:AddrW] && regs.wdata == dut.rom[taken][31:0],
             "another word")
      taken <= taken + 1;
    end
    if (regs.req && !again && !at_once) wait_q <= 1 + int'($urandom_range(5));
    else if (wait_q != 0) wait_q <= wait_q - 1;
    `CHECK(rst || again || !done || (taken == Words && wait_q == 0), "done before it is")
    at_once <= $urandom_range(2) == 0;
  end

  initial begin
    @(negedge rst);
    for (int n = 0; n < 200; n++) begin
      @(negedge clk);
      again = 1;
      for (int i = 0; i < Words; i++) dut.rom[i] = {$urandom, $urandom};
      repeat (8) @(negedge clk);  // what is under way is answered
      taken = 0;
      again = 0;
      while (!done) @(negedge clk);
      repeat (5) @(negedge clk);
      `CHECK(done && taken == Words, "not all words")
    end
    `TB_PASS
  end
endmodule

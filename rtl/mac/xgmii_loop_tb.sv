// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// xgmii_loop by itself: after a reset of the side it receives on, the longest frame, with nothing in front of it to spare, comes out whole into a
/// clock that is up to 0.3 % faster or slower; of frames with gaps between them each word of content once and in order, and Idle left out and
/// doubled by how full the store is; a reset of either side in mid-frame leaves Idle.
module xgmii_loop_tb
  import xgmii_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  real half = 3.2;  // of the second clock
  logic out_clk = 0, in_rst = 1, out_rst = 1;
  always #(half) out_clk = !out_clk;
  logic in_clk = 0;
  initial #0.701 forever #3.2 in_clk = !in_clk;

  xgmii_t from = IdleWord, to;
  xgmii_loop dut (
      .in_clk_i(in_clk),
      .in_rst_i(in_rst),
      .in_i(from),
      .out_clk_i(out_clk),
      .out_rst_i(out_rst),
      .out_o(to)
  );

  // What is put in: words that are no Idle, and how many of Idle in front of each frame.
  xgmii_t line[$], expected[$];
  bit looks = 0;
  int unsigned left_out = 0, doubled = 0, came = 0;
  int level_was;
  bit wide_was = 0;
  always @(posedge in_clk) begin
    if (!in_rst && looks) begin
      bit idle;
      idle = from == IdleWord;
      `CHECK(dut.in.valid == !(idle && level_was > 11 && wide_was), "Idle is left out, or is not")
      `CHECK(dut.in.data.twice == (idle && level_was < 8), "Idle is doubled, or is not")
      left_out += 32'(!dut.in.valid);
      doubled += 32'(dut.in.data.twice);
    end
    level_was = 32'(dut.level);
    wide_was  = from.ctl[3];
  end
  always @(negedge in_clk) begin
    from = IdleWord;
    if (line.size() != 0) from = line.pop_front();
  end

  // What comes out. A frame that has begun goes on.
  bit in_frame = 0, was_rst = 0;
  always @(posedge out_clk) begin
    if (was_rst) `CHECK(to == IdleWord, "not Idle in reset")
    was_rst = out_rst;
    if (!looks) in_frame = 0;
    else if (to != IdleWord) begin
      `CHECK(expected.size() != 0 && to == expected[0], "a wrong word")
      void'(expected.pop_front());
      in_frame = !to.ctl[7];
      came++;
    end else `CHECK(!in_frame, "Idle in a frame")
  end

  task automatic frame(int unsigned words, int unsigned idles);
    xgmii_t w;
    repeat (idles) line.push_back(IdleWord);
    for (int unsigned i = 0; i < words; i++) begin
      w.data = {$urandom(), $urandom()};
      w.ctl  = '0;
      if (i == 0) {w.ctl[0], w.data[7:0]} = {1'b1, Start};
      if (i == words - 1) begin
        w.ctl  = 8'hf8;  // five bytes of the gap
        w.data = {{4{Idle}}, Terminate, w.data[23:0]};
      end
      line.push_back(w);
      expected.push_back(w);
    end
  endtask
  task automatic settle();
    for (int patience = 0; expected.size() != 0; patience++) begin
      @(posedge in_clk);
      `CHECK(patience < 20_000, "words are lost")
    end
    repeat (60) @(posedge in_clk);
  endtask

  initial begin
    @(negedge rst);
    repeat (20) @(posedge in_clk);
    out_rst = 0;
    for (int round = 0; round < 60; round++) begin
      half = 3.2 * (1.0 + 0.003 * (real'($urandom_range(2000)) / 1000.0 - 1.0));
      if (round % 3 == 0) half = 3.2 * 0.997;
      // Empty, and then at once the longest frame.
      @(negedge in_clk);
      in_rst = 1;
      repeat (80) @(posedge in_clk);
      `CHECK(to == IdleWord && !dut.out.valid, "not empty")
      @(negedge in_clk);
      looks = 1;
      frame(1203, 0);
      in_rst = 0;
      settle();
      for (int n = 0; n < 20; n++) frame($urandom_range(190, 9), $urandom_range(12, 4));
      settle();
      // Either side's reset, in mid-frame.
      frame(200, 0);
      repeat ($urandom_range(100, 30)) @(posedge in_clk);
      looks = 0;
      if (round % 2 == 0) begin
        @(negedge out_clk);
        out_rst = 1;
        repeat ($urandom_range(9, 1)) @(negedge out_clk);
        out_rst = 0;
      end
      in_rst   = 1;
      line     = {};
      expected = {};
    end
    `CHECK(left_out > 100 && doubled > 100 && came > 100_000, "too little happened")
    `TB_PASS
  end
endmodule

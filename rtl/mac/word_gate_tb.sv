// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// word_gate: a frame passes whole or not at all, as `enable_i` was when it was first offered.
module word_gate_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  `STREAM_ON(word_beat_t, in, clk, rst)
  `STREAM_ON(word_beat_t, out, clk, rst)
  logic enable = 1, dropped, in_valid = 0, out_ready = 0;
  word_beat_t word = '0;
  assign in.valid  = in_valid;
  assign in.data   = word;
  assign out.ready = out_ready;
  word_gate dut (
      .clk_i(clk),
      .rst_i(rst),
      .enable_i(enable),
      .in(in),
      .out(out),
      .dropped_o(dropped)
  );

  logic [63:0] wanted[$];
  int unsigned drops = 0, drops_wanted = 0, passed = 0, full_clocks = 0;
  always @(negedge clk) begin
    out_ready = $urandom_range(2) != 0;
    enable = $urandom_range(3) != 0;
    #3;  // just before the rising edge
    if (!rst && dropped) drops++;
    if (!rst && out.valid && out.ready) begin
      `CHECK(wanted.size() > 0, "a word too many")
      `CHECK(out.data.data == wanted.pop_front(), "wrong word")
      passed++;
    end
    if (!rst && in.valid && !in.ready) full_clocks++;
  end

  initial begin
    logic first;
    logic pass;
    @(negedge rst);
    for (int n = 0; n < 1000; n++) begin
      int unsigned words;
      words = $urandom_range(9, 1);
      for (int i = 0; i < int'(words); i++) begin
        @(negedge clk);
        in_valid = 0;
        repeat ($urandom_range(4) == 0 ? 2 : 0) @(negedge clk);
        in_valid = 1;
        word = '{
            data: {32'(n), 32'(i)},
            len: 4'd8,
            sop: i == 0,
            eop: i == int'(words) - 1,
            err: 0
        };
        first = 1;
        forever begin
          #2;
          if (first && i == 0) pass = enable;
          if (first && pass) wanted.push_back(word.data);
          first = 0;
          `CHECK(out.valid == pass, "gate")
          if (in.ready) break;
          @(negedge clk);
        end
      end
      drops_wanted += 32'(!pass);
    end
    @(negedge clk);
    in_valid = 0;
    repeat (20) @(negedge clk);
    `CHECK(wanted.size() == 0, "words lost")
    `CHECK(drops == drops_wanted && drops > 100, "frames dropped miscounted")
    `CHECK(passed > 1000 && full_clocks > 100, "the test is too small")
    `TB_PASS
  end
endmodule

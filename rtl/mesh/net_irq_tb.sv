// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// net_irq: random messages, some of them interrupts (a few with words: malformed, and dropped whole),
/// with back-pressure: what passes is all else in order, and each interrupt raises the flag of its sender's side once.
module net_irq_tb
  import mesh_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  `STREAM_ON(word_t, in, clk, rst)
  `STREAM_ON(word_t, out, clk, rst)
  logic [7:0] irq;
  net_irq dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out,
      .irq_o(irq)
  );

  word_t words[$], passes[$];
  int unsigned flags[8], seen[8], passed = 0;
  initial begin
    for (int i = 0; i < 3000; i++) begin
      automatic header_t h = header_t'($urandom());
      h.user = $urandom_range(2) == 0 ? Interrupt : message_e'($urandom_range(30));
      h.len = $urandom_range(1) == 0 ? 0 : 5'($urandom_range(31));
      h.src.exit = 3'($urandom_range(4));
      words.push_back(h);
      if (h.user == Interrupt) flags[h.src.exit]++;
      else passes.push_back(h);
      for (int k = 0; k < int'(h.len); k++) begin
        // Words that look like interrupts.
        automatic word_t w = {5'd31, 27'($urandom())};
        words.push_back(w);
        if (h.user != Interrupt) passes.push_back(w);
      end
    end
  end

  always @(posedge clk) begin
    out.ready <= $urandom_range(2) != 0;
    if (!rst) begin
      if (in.valid && in.ready) void'(words.pop_front());
      if (!in.valid || in.ready) begin
        in.valid <= words.size() != 0 && $urandom_range(3) != 0;
        in.data  <= words.size() != 0 ? words[0] : '0;
      end
      if (out.valid && out.ready) begin
        `CHECK(passes.size() != 0 && out.data == passes[0], "what passes")
        void'(passes.pop_front());
        passed++;
      end
      `CHECK($onehot0(irq), "one message, one flag")
      for (int f = 0; f < 8; f++) seen[f] += int'(irq[f]);
    end else in.valid <= 0;
  end

  initial begin
    @(negedge rst);
    while (words.size() != 0 || passes.size() != 0) @(posedge clk);
    repeat (10) @(posedge clk);
    for (int f = 0; f < 8; f++)
      `CHECK(seen[f] == flags[f], $sformatf("flag %0d: %0d, not %0d", f, seen[f], flags[f]))
    `CHECK(passed > 10_000, "too little")
    `TB_PASS
  end
endmodule

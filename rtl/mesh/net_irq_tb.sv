// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
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
  logic takes, ready;
  header_t header;
  assign header = in.data;
  net_irq dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .interrupt_i(header.user == Interrupt),
      .out,
      .takes_o(takes),
      .ready_o(ready),
      .irq_o(irq)
  );

  `STREAM_SOURCE(word_t, i_source, in, 75)
  `STREAM_CHECK(word_t, i_sink, out, 67)
  int unsigned flags[8], seen[8];
  initial begin
    for (int i = 0; i < 3000; i++) begin
      automatic header_t h = header_t'($urandom());
      h.user = $urandom_range(2) == 0 ? Interrupt : message_e'($urandom_range(30));
      h.len = $urandom_range(1) == 0 ? 0 : 5'($urandom_range(31));
      h.src.exit = 3'($urandom_range(4));
      i_source.queue.push_back(h);
      if (h.user == Interrupt) flags[h.src.exit]++;
      else i_sink.expected.push_back(h);
      for (int k = 0; k < int'(h.len); k++) begin
        // Words that look like interrupts.
        automatic word_t w = {5'd31, 27'($urandom())};
        i_source.queue.push_back(w);
        if (h.user != Interrupt) i_sink.expected.push_back(w);
      end
    end
  end

  always @(posedge clk) begin
    if (!rst) begin
      `CHECK($onehot0(irq), "one message, one flag")
      `CHECK(in.ready == (ready || (takes && header.user == Interrupt)),
             "ready for a word by what it is")
      for (int f = 0; f < 8; f++) seen[f] += int'(irq[f]);
    end
  end

  initial begin
    @(negedge rst);
    while (i_source.queue.size() != 0 || i_sink.expected.size() != 0) @(posedge clk);
    repeat (10) @(posedge clk);
    for (int f = 0; f < 8; f++)
      `CHECK(seen[f] == flags[f], $sformatf("flag %0d: %0d, not %0d", f, seen[f], flags[f]))
    `CHECK(i_sink.taken > 10_000, "too little")
    `TB_PASS
  end
endmodule

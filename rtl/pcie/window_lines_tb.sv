// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// window_lines between requests of every kind: lines come out whole, what is no line is dropped and counted, all else passes
/// unchanged and in order; a line a clock, also while other requests wait behind them.
module window_lines_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int AddrW = 20;
  localparam logic [AddrW-1:0] Base = 20'h40000, Size = 20'h10000;

  `STREAM_ON(tlp_beat_t, in, clk, rst)
  `STREAM_ON(tlp_beat_t, other, clk, rst)
  line_write_t line;
  logic dropped;
  window_lines #(
      .AddrW(AddrW),
      .Base (Base),
      .Size (Size)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .other,
      .line_o(line),
      .dropped_o(dropped)
  );

  int unsigned in_percent = 100, other_percent = 100;
  `STREAM_SOURCE(tlp_beat_t, i_in, in, in_percent)
  `STREAM_CHECK(tlp_beat_t, i_other, other, other_percent)
  line_write_t want[$];
  int unsigned lines = 0, drops = 0, want_drops = 0, clocks = 0;

  always @(posedge clk)
    if (!rst) begin
      clocks++;
      drops += 32'(dropped);
      if (line.valid) begin
        line_write_t w;
        `CHECK(want.size() != 0, "a line too many")
        w = want.pop_front();
        lines++;
        `CHECK(line.line == w.line && line.pieces == w.pieces, $sformatf("%p, not %p", line, w))
        for (int i = 0; i < 4; i++)
          `CHECK(i >= int'(w.pieces) || line.data[128*i+:128] == w.data[128*i+:128], "other data")
      end
    end

  /// A packet; `good`: a line.
  task automatic send(bit good);
    mem4_hdr_t   hdr = '0;
    tlp_beat_t   beat;
    line_write_t w;
    bit write = good || $urandom_range(3) != 0, hits = good || $urandom_range(1) == 1;
    bit wide = 1'($urandom());
    int unsigned dws = good ? 4 * $urandom_range(4, 1) : $urandom_range(40, 1);
    logic [AddrW-1:0] addr = AddrW'($urandom()) & ~AddrW'(3);
    if (good) addr[5:2] = '0;
    else if ($urandom_range(1) == 1) addr[5:0] = '0;
    if (hits) addr = (addr & (Size - 1'b1)) | Base;
    else addr[18] = 1'b0;
    hdr.dw0.fmt_type = write ? wide ? MWr4 : MWr3 : wide ? MRd4 : MRd3;
    hdr.dw0.length = 10'(dws);
    hdr.dw0.ep = !good && $urandom_range(9) == 0;
    hdr.first_be = good || $urandom_range(2) != 0 ? 4'hf : 4'($urandom());
    hdr.last_be = dws == 1 ? 4'h0 : good || $urandom_range(2) != 0 ? 4'hf : 4'($urandom());
    hdr.addr = wide ? {32'h20, 12'h123, addr} : {12'hfed, addr, 32'd0};
    good |= write && hits && dws <= 16 && dws % 4 == 0 && addr[5:0] == '0 && hdr.first_be == 4'hf && hdr.last_be == 4'hf
        && !hdr.dw0.ep;
    for (int unsigned at = 0; at < (write ? dws : 1); at += 16) begin
      beat.hdr = at == 0 ? hdr : '0;
      beat.sop = at == 0;
      beat.eop = !write || at + 16 >= dws;
      for (int i = 0; i < 16; i++) beat.data[32*i+:32] = $urandom();
      i_in.queue.push_back(beat);
      if (!(write && hits)) i_other.expected.push_back(beat);
    end
    w = '{
        valid: 1'b1,
        line: 26'((addr & (Size - 1'b1)) >> 6),
        pieces: 3'(dws / 4),
        data: beat.data
    };
    if (write && hits && good) want.push_back(w);
    if (write && hits && !good) want_drops++;
  endtask

  task automatic settle();
    while (i_in.queue.size() != 0) @(posedge clk);
    repeat (200) @(posedge clk);
    `CHECK(want.size() == 0 && i_other.expected.size() == 0, "something is missing")
    `CHECK(drops == want_drops, $sformatf("%0d dropped, not %0d", drops, want_drops))
  endtask

  initial begin
    int unsigned start;
    @(negedge rst);
    repeat (300) send(1);
    start = clocks;
    while (i_in.queue.size() != 0) @(posedge clk);
    `CHECK(clocks - start <= 302, "lines wait")
    settle();
    for (int round = 0; round < 10; round++) begin
      in_percent = $urandom_range(100, 20);
      other_percent = $urandom_range(100, 20);
      repeat (400) send($urandom_range(3) == 0);
      settle();
    end
    `CHECK(lines > 1000 && drops > 300, $sformatf("%0d lines, %0d dropped", lines, drops))
    `TB_PASS
  end
endmodule

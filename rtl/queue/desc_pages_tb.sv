// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// desc_pages: the pieces of random turns are all of their granules in order, as long as they can be without crossing a page, and the
/// last one says so; what is not stepped stays, and a turn that is loaded replaces the one before.
module desc_pages_tb;
  import queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  logic load = 0, step = 0, ends;
  logic [59:0] addr;
  turn_t granules;
  ring_ptr_t index, index_after;
  logic [63:0] piece_addr;
  logic [15:0] piece_len;
  desc_pages dut (
      .clk_i(clk),
      .load_i(load),
      .addr_i(addr),
      .granules_i(granules),
      .index_i(index),
      .step_i(step),
      .addr_o(piece_addr),
      .len_o(piece_len),
      .index_o(index_after),
      .ends_o(ends)
  );

  int unsigned most = 0;
  initial begin
    @(negedge rst);
    for (int n = 0; n < 4000; n++) begin
      logic [63:0] at, page;
      ring_ptr_t here;
      int left, pieces, enough;
      left = $urandom_range($urandom_range(1) == 0 ? TurnGranules / 4 : TurnGranules, 1);
      pieces = 0;
      // A quarter of them may be left in the middle.
      enough = $urandom_range(3) == 0 ? $urandom_range(4, 1) : TurnGranules;
      // Half of them on a page's first or last granules.
      at = {4'd0, 28'($urandom()), 32'($urandom())} & ~64'd15;
      if ($urandom_range(1) == 0) at = {at[63:12], 12'd0} - 64'($urandom_range(2) * 16);
      here = ring_ptr_t'($urandom());
      load <= 1;
      step <= $urandom_range(1) == 0;
      addr <= at[63:4];
      granules <= turn_t'(left);
      index <= here;
      @(posedge clk);
      load <= 0;
      step <= 0;
      addr <= '1;
      granules <= '1;
      index <= '1;
      while (left > 0 && pieces < enough) begin
        automatic int want;
        repeat ($urandom_range(3, 1)) @(posedge clk);
        page = 64'h1000 - (at & 64'hfff);
        want = left * 16 < int'(page) ? left * 16 : int'(page);
        here = here + 16'(want / 16);
        `CHECK(piece_addr == at && int'(piece_len) == want, "the piece as long as it can be")
        `CHECK(index_after == here, "the ring's index behind it")
        left -= want / 16;
        `CHECK(ends == (left == 0), "the last piece says so")
        at += 64'(want);
        pieces++;
        step <= 1;
        @(posedge clk);
        step <= 0;
      end
      if (pieces > most) most = pieces;
    end
    `CHECK(most > 1, "no turn of several pieces")
    $display("%0d pieces at the most", most);
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// usplus_meter: what each request counts by the bytes that it touches, at both boundaries and with both kinds of header; when
/// it stands still the next one really has no room, and everything comes back.
module usplus_meter_tb
  import pcie_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Lines = 100;

  `STREAM_ON(mem4_hdr_t, in, clk, rst)
  `STREAM_ON(mem4_hdr_t, out, clk, rst)
  logic forget = 0, rcb_128 = 0, done = 0;
  logic [3:0] nph_av = 15;
  logic [1:0] sent = 0;
  logic [7:0] done_tag;
  usplus_meter #(
      .Lines(Lines)
  ) dut (
      .clk_i     (clk),
      .rst_i     (rst),
      .forget_i  (forget),
      .rcb_128_i (rcb_128),
      .nph_av_i  (nph_av),
      .sent_i    (sent),
      .done_i    (done),
      .done_tag_i(done_tag),
      .in,
      .out
  );

  int unsigned in_percent = 100, out_percent = 100;
  stream_source #(
      .T(mem4_hdr_t)
  ) i_source (
      .on(in),
      .percent(in_percent)
  );

  mem4_hdr_t waiting[$];  // given and not gone
  logic [7:0] open[$];
  int lost[$];
  int unsigned given_again = 0;
  int need[256], free = Lines, gone = 0;
  function automatic int lines_of(mem4_hdr_t hdr);
    int bytes = 4 * (hdr.dw0.length == 0 ? 1024 : int'(hdr.dw0.length)), line = rcb_128 ? 128 : 64;
    int first = int'(hdr.dw0.fmt_type[5] ? hdr.addr[6:0] : hdr.addr[38:32]) % line;
    return (first + bytes + line - 1) / line;
  endfunction

  logic [7:0] next_tag = 0;
  task automatic give(int length);
    mem4_hdr_t hdr = {$urandom(), $urandom(), $urandom(), $urandom()};
    hdr.dw0.fmt_type = $urandom_range(1) ? MRd4 : MRd3;
    hdr.dw0.length = 10'(length);
    {hdr.dw0.tag9, hdr.dw0.tag8} = 0;
    hdr.tag = next_tag++;
    hdr.addr[33:32] = 0;
    hdr.addr[1:0] = 0;
    i_source.queue.push_back(hdr);
    waiting.push_back(hdr);
  endtask

  // The pins: what goes is taken in the next clock.
  always @(posedge clk) begin
    out.ready <= $urandom_range(99) < out_percent;
    sent <= 2'(out.valid && out.ready && !rst);
    if (!rst && out.valid && out.ready) begin
      automatic mem4_hdr_t hdr = waiting.pop_front();
      `CHECK(out.data == hdr, "another request than was given")
      `CHECK(lines_of(hdr) <= free, "a request without room for its answer")
      // A tag that is given out again has lost its answer.
      foreach (open[i]) if (open[i] == hdr.tag) lost.push_back(i);
      if (lost.size() != 0) begin
        free += need[hdr.tag];
        open.delete(lost.pop_back());
        given_again++;
      end
      need[hdr.tag] = lines_of(hdr);
      free -= need[hdr.tag];
      open.push_back(hdr.tag);
      gone++;
    end
  end

  task automatic answer();
    int lines;
    open.shuffle();
    done_tag = open.pop_back();
    lines = need[done_tag];
    done = 1;
    @(posedge clk) free += lines;
    #1 done = 0;
    done_tag = 8'($urandom());
  endtask

  task automatic stand_still();
    int earlier;
    do begin
      earlier = gone;
      repeat (30) @(posedge clk);
      #1;
    end while (earlier != gone);
  endtask

  initial begin
    @(negedge rst);
    for (int round = 0; round < 60; round++) begin
      @(posedge clk) #1;
      rcb_128 = 1'($urandom());
      in_percent = $urandom_range(100, 50);
      out_percent = $urandom_range(100, 50);
      for (int i = 0; i < 120; i++) give(round % 3 ? $urandom_range(1023) : $urandom_range(40, 1));
      while (waiting.size() != 0) begin
        stand_still();
        if (waiting.size() != 0) begin
          `CHECK(lines_of(waiting[0]) > free, "a request waits that there is room for")
          `CHECK(open.size() != 0, "nothing is under way, and nothing goes")
          repeat ($urandom_range(open.size(), 1)) answer();
        end
      end
      while (open.size() != 0) answer();
      `CHECK(free == Lines, "not everything has come back")
    end
    // Without credits for requests none goes; a tag that is given out again, and a function that is reset, give back lines.
    @(posedge clk) #1 nph_av = 0;
    repeat (4) @(posedge clk);
    give(16);
    stand_still();
    `CHECK(waiting.size() == 1, "a request without credit")
    nph_av = 15;
    stand_still();
    `CHECK(waiting.size() == 0, "no request with credit")
    repeat (20) begin
      next_tag = open[0];
      give(500);
      stand_still();
      `CHECK(waiting.size() == 0, "what was lost holds its lines")
    end
    // That while others are answered, and the tag itself.
    {in_percent, out_percent} = {32'd80, 32'd80};
    for (int n = 0; n < 3000; n++) begin
      next_tag = 8'($urandom_range(7));
      if (waiting.size() < 4) give($urandom_range(120, 1));
      if (open.size() != 0 && $urandom_range(2) == 0) answer();
      else @(posedge clk) #1;
    end
    `CHECK(given_again > 500, $sformatf("%0d tags were given out again", given_again))
    while (waiting.size() + open.size() != 0) begin
      stand_still();
      if (open.size() != 0) answer();
    end
    `CHECK(free == Lines, "not everything has come back")
    next_tag = 0;
    repeat (2) give(700);
    stand_still();
    `CHECK(waiting.size() == 0, "what was given out again holds its lines")
    forget = 1;
    @(posedge clk) #1 forget = 0;
    open.delete();
    free = Lines;
    repeat (2) give(700);
    stand_still();
    `CHECK(waiting.size() == 0, "what is not answered any more holds its lines")
    `TB_PASS
  end
endmodule

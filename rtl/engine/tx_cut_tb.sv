// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_cut: turns of frames of every length from any place in a row on, in pieces, with and without an empty rest, broken ones of
/// every kind, and packets of other queues between them, under back-pressure. Every byte, mark and checksum command of each
/// frame, every token; small frames and long ones at their rates.
module tx_cut_tb;
  import eth_pkg::*, queue_pkg::*, engine_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(1_000_000)
  localparam int MaxFrame = 3000;

  `STREAM_ON(tx_unit_t, in, clk, rst)
  `STREAM_ON(wide_beat_t, frame, clk, rst)
  `STREAM_ON(tx_token_t, token, clk, rst)
  tx_csum_t csum;
  tx_cut #(
      .Vlan(1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_frame_i(14'(MaxFrame)),
      .in,
      .frame,
      .csum_o(csum),
      .token
  );

  int unsigned in_percent = 100, frame_percent = 100, token_percent = 100;
  `STREAM_SOURCE(tx_unit_t, i_in, in, in_percent)
  `STREAM_SINK(wide_beat_t, i_frame, frame, frame_percent)
  `STREAM_SINK(tx_token_t, i_token, token, token_percent)

  typedef struct {
    wide_beat_t beat;
    tx_csum_t   csum;
  } want_t;
  want_t want[$];
  typedef struct {
    bit exact, broken;
    logic [7:0] frames;
    logic [13:0] bytes;
  } want_token_t;
  want_token_t want_token[$];
  int unsigned
      total = 0, total_bytes = 0, beats = 0, tokens = 0, broken = 0, aborted = 0, told_aborted = 0;

  always @(posedge clk)
    if (!rst) begin
      if (frame.valid && frame.ready) begin
        want_t w;
        `CHECK(want.size() != 0, "a beat too many")
        w = want.pop_front();
        `CHECK(
            frame.data.sop == w.beat.sop && frame.data.eop == w.beat.eop && frame.data.err == w.beat.err,
            $sformatf("beat %0d: wrong marks", beats))
        `CHECK(csum == w.csum, $sformatf("beat %0d: wrong checksum command", beats))
        if (!w.beat.err) begin
          `CHECK(frame.data.len == w.beat.len, $sformatf("beat %0d: len %0d, not %0d", beats,
                                                         frame.data.len, w.beat.len))
          for (int unsigned i = 0; i < 32'(w.beat.len); i++)
            `CHECK(frame.data.data[8*i+:8] == w.beat.data[8*i+:8], $sformatf(
                   "beat %0d: wrong byte %0d", beats, i))
        end
        beats++;
      end
      if (token.valid && token.ready) begin
        want_token_t w;
        `CHECK(want_token.size() != 0, "a token too many")
        w = want_token.pop_front();
        `CHECK(
            !w.exact || (token.data.frames == w.frames && token.data.broken == w.broken && token.data.bytes == w.bytes),
            $sformatf("token %0d: %0d %0b, not %0d %0b", tokens, token.data.frames,
                      token.data.broken, w.frames, w.broken))
        tokens++;
        told_aborted += 32'(token.data.aborted);
      end
    end

  function automatic bit one_in(int unsigned n);
    return $urandom_range(n - 1) == 0;
  endfunction

  /// A packet of another queue.
  function automatic void pass();
    int unsigned n = $urandom_range(3, 1);
    tx_csum_t command = tx_csum_t'($urandom());
    for (int unsigned i = 0; i < n; i++) begin
      tx_unit_t u = '0;
      want_t w;
      for (int k = 0; k < 32; k++) u.beat.data[32*k+:32] = $urandom();
      u.beat.len = i == n - 1 ? 8'($urandom_range(128, 1)) : 8'd128;
      u.beat.sop = i == 0;
      u.beat.eop = i == n - 1;
      u.csum = command;
      i_in.queue.push_back(u);
      w.beat = u.beat;
      w.csum = command;
      want.push_back(w);
    end
  endfunction

  /// A turn of `n` frames of min to max bytes; `fault` 0: none, 1: a head too long, 2: cut off, 3: a piece that failed.
  function automatic void turn(int unsigned n, int unsigned min, int unsigned max,
                               int unsigned fault, bit pieces);
    logic [127:0] ring[$];
    int unsigned from = $urandom_range(7), victim = $urandom_range(n - 1), rows, end_at;
    int unsigned first[$], length[$], closes[$], closed[$];
    tx_csum_t commands[$];
    bit bad = 0;
    repeat (from) ring.push_back({4{$urandom()}});
    for (int unsigned f = 0; f < n; f++) begin
      desc_t head = desc_t'({4{$urandom()}});
      int unsigned len = $urandom_range(max, min);
      if (len < 12 || len > MaxFrame - 4) head.vlan = 0;
      head.len = 16'(len);
      if (fault == 1 && f == victim)
        head.len = 16'($urandom_range(65535, MaxFrame + (head.vlan ? -3 : 1)));
      commands.push_back(command_of(head, 1));
      ring.push_back(head);
      first.push_back(ring.size());
      length.push_back(len);
      repeat ((len + 15) / 16) ring.push_back({4{$urandom()}});
    end
    end_at = ring.size();
    if (fault == 0 && one_in(3)) begin  // nothing comes until the turn's end
      desc_t head = desc_t'({4{$urandom()}});
      head.len = '0;
      ring.push_back(head);
      repeat ($urandom_range(20)) ring.push_back({4{$urandom()}});
      end_at = ring.size();
    end
    if (fault == 2) end_at = first[victim] + $urandom_range((length[victim] + 15) / 16 - 1);
    if (fault == 3) end_at = (first[victim] + $urandom_range((length[victim] + 15) / 16 - 1)) & ~7;
    if (fault == 3 && end_at <= from) end_at = 0;
    // What comes out.
    for (int unsigned f = 0; f < n && !bad; f++) begin
      int unsigned at = 0, place;
      if (fault == 1 && f == victim) bad = 1;
      if (fault == 3 && end_at == first[f] - 1) bad = 1;
      for (at = 0; at < length[f] && !bad; at += 128) begin
        want_t w;
        int unsigned here = length[f] - at < 128 ? length[f] - at : 128;
        w.csum = commands[f];
        w.beat = '0;
        w.beat.sop = at == 0;
        w.beat.eop = at + 128 >= length[f];
        w.beat.len = 8'(here);
        place = first[f] + at / 16;
        if (place + (here + 15) / 16 > end_at) begin
          bad = 1;
          if (at == 0) continue;
          w.beat.eop = 1;
          w.beat.err = 1;
          aborted++;
        end
        for (int unsigned i = 0; i < here; i++) w.beat.data[8*i+:8] = ring[place+i/16][8*(i%16)+:8];
        want.push_back(w);
        if (w.beat.eop) begin
          total++;
          closes.push_back((place - 1) / 8);
          closed.push_back(w.beat.err ? 0 : length[f]);
          total_bytes += closed[$];
        end
      end
    end
    // Its rows.
    rows = (end_at + 7) / 8;
    for (int unsigned r = 0; r < rows + 32'(fault == 3); r++) begin
      tx_unit_t u = '0;
      want_token_t t;
      u.stream = 1;
      u.from = 3'(from);
      u.fail = r == rows;
      u.ends = r == rows - 32'(fault != 3);
      u.beat.eop = u.ends || (pieces && one_in(4)) || (fault == 3 && r == rows - 1);
      u.beat.len = u.fail ? '0 : 8'(end_at - 8 * r < 8 ? 16 * (end_at - 8 * r) : 128);
      for (int unsigned i = 0; i < 8; i++)
      u.beat.data[128*i+:128] = 8 * r + i < end_at ? ring[8*r+i] : {4{$urandom()}};
      i_in.queue.push_back(u);
      if (u.beat.eop) begin
        t.exact  = u.ends || !bad;
        t.broken = bad;
        t.frames = 8'(total);
        t.bytes  = 14'(total_bytes);
        foreach (closes[c])
        if (closes[c] > r) begin
          t.frames--;
          t.bytes -= 14'(closed[c]);
        end
        want_token.push_back(t);
      end
    end
    broken += 32'(bad);
    `CHECK(bad == (fault != 0), "the bench made another turn than it meant")
  endfunction

  task automatic settle();
    while (i_in.queue.size() != 0) @(posedge clk);
    frame_percent = 100;
    token_percent = 100;
    repeat (200) @(posedge clk);
    `CHECK(want.size() == 0 && want_token.size() == 0,
           $sformatf("%0d beats and %0d tokens are missing", want.size(), want_token.size()))
    `CHECK(told_aborted == aborted, $sformatf("%0d aborted frames, %0d told of", aborted,
                                              told_aborted))
  endtask

  task automatic measure(int unsigned bytes, int unsigned frames, int unsigned clocks);
    int unsigned start;
    repeat (8) turn(frames / 8, bytes, bytes, 0, 0);
    repeat (20) @(posedge clk);
    start = beats;
    repeat (clocks) @(posedge clk);
    $display("%0d bytes: %0d beats in %0d clocks", bytes, beats - start, clocks);
    `CHECK(beats - start >= clocks * 85 / 100, "too slow")
    settle();
  endtask

  initial begin
    @(negedge rst);
    measure(60, 1600, 1000);
    measure(96, 1600, 1000);
    measure(128, 1600, 1000);
    measure(1514, 160, 1000);
    for (int round = 0; round < 30; round++) begin
      in_percent = $urandom_range(100, 20);
      frame_percent = one_in(2) ? 100 : $urandom_range(100, 20);
      token_percent = one_in(2) ? 100 : $urandom_range(100, 20);
      repeat (40) begin
        int unsigned most = one_in(4) ? MaxFrame : 200;
        turn($urandom_range(12, 1), 1, most, one_in(4) ? $urandom_range(3) : 0, 1);
        if (one_in(3)) pass();
      end
      settle();
    end
    `CHECK(broken > 100 && aborted > 4, $sformatf(
           "%0d broken turns, %0d aborted frames", broken, aborted))
    $display("%0d beats, %0d tokens, %0d broken, %0d aborted", beats, tokens, broken, aborted);
    `TB_PASS
  end
endmodule

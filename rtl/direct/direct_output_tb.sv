// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// direct_output: frames of both paths leave whole and in order, one word a clock; what never fits, or
/// is empty or a header alone, is dropped and told of, two in one clock as well; words held are those of frames that have not left.
module direct_output_tb;
  import direct_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int FifoBytes = 600, Words = FifoBytes / 8;
  `include "frames_tb.svh"

  bit turns = 0, bad_slow = 0;
  frame_write_t fast = '0;
  words_t [0:0] room;
  logic [0:0] empty;
  words_t slow_room, fast_used, slow_used;
  logic sent_fast, sent_slow;
  logic [1:0] overflow;
  int unsigned in_percent = 100, out_percent = 100;
  `STREAM_ON(stored_word_t, slow, clk, rst)
  `STREAM_ON(eth_pkg::word_beat_t, out, clk, rst)
  `STREAM_SOURCE(stored_word_t, i_slow, slow, 80)
  `STREAM_SINK(eth_pkg::word_beat_t, i_out, out, out_percent)
  direct_output #(
      .FifoBytes(FifoBytes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .round_robin_i(turns),
      .fast_i(fast),
      .fast_lane_i(1'b0),
      .fast_room_o(room),
      .fast_empty_o(empty),
      .slow,
      .slow_room_o(slow_room),
      .out,
      .fast_used_o(fast_used),
      .slow_used_o(slow_used),
      .sent_fast_o(sent_fast),
      .sent_slow_o(sent_slow),
      .overflow_o(overflow)
  );

  function automatic int unsigned some_bytes();
    return $urandom_range($urandom_range(1) == 0 ? 70 : 180, 60);
  endfunction

  // Frames to come out, and how many are not to; the numbers of slow ones are odd.
  frame_t expected[2][$];
  int unsigned bad = 0, told = 0, twice = 0, sent[2] = '{default: 0}, gone[2] = '{default: 0};

  // The fast path: what there is room for, the frame before in it or not, or what never fits.
  frame_t now = '{0, 0};
  int word = -1;
  int unsigned before_it = 0;  // words of the frame before
  always @(posedge clk) begin
    fast <= '0;
    if (rst) word = -1;
    else if (word < 0 && $urandom_range(99) < in_percent) begin
      automatic int unsigned bytes = some_bytes();
      if ($urandom_range(bad_slow ? 2 : 19) == 0) bytes = FifoBytes + 1;
      if (bytes > FifoBytes || words_of(bytes) + 1 + before_it <= 32'(room[0])) begin
        now = '{now.id + 2, bytes};
        before_it = bytes > FifoBytes ? 0 : words_of(bytes) + 1;
        word = 0;
      end
    end
    if (word >= 0) begin
      automatic bit last = word + 1 == int'(words_of(now.bytes));
      fast <= '{
          valid: 1'b1,
          data: content(now.id, word),
          last: last,
          bytes: 16'(now.bytes),
          abort: 1'b0
      };
      if (last && now.bytes > FifoBytes) bad++;
      if (last && now.bytes <= FifoBytes) expected[0].push_back(now);
      word = last ? -1 : word + 1;
    end
  end

  // The slow path.
  int unsigned slow_id = 1;
  always @(posedge clk)
    if (!rst && i_slow.queue.size() == 0 && $urandom_range(99) < in_percent) begin
      automatic int unsigned kind = bad_slow ? $urandom_range(9) : 9;
      automatic int unsigned alone = 0;  // headers in a row
      automatic int unsigned bytes = some_bytes();
      automatic packet_header_t header = packet_header_t'({$urandom(), $urandom()});
      automatic int unsigned words;
      if (kind inside {3, 4, 5}) alone = $urandom_range(90, 1);
      if (kind == 0) bytes = 0;
      if (kind == 1) bytes = FifoBytes + 3;
      if (kind == 2) bytes = FifoBytes - 8;
      words = bytes == 0 ? 1 : words_of(bytes);
      slow_id += 2;
      header.bytes = 16'(bytes);
      repeat (alone) i_slow.queue.push_back('{data: header, last: 1'b1});
      bad += alone;
      if (alone == 0) begin
        i_slow.queue.push_back('{data: header, last: 1'b0});
        for (int unsigned w = 0; w < words; w++)
        i_slow.queue.push_back('{data: content(slow_id, w), last: w + 1 == words});
        if (bytes == 0 || bytes > FifoBytes) bad++;
        else expected[1].push_back('{slow_id, bytes});
      end
    end

  // What leaves.
  int unsigned place = 0, path = 0;
  frame_t want;
  always @(posedge clk)
    if (!rst) begin
      automatic eth_pkg::word_beat_t beat = out.data;
      told += 32'(overflow);
      if (overflow > 2'd1) twice++;
      if (sent_fast) sent[0]++;
      if (sent_slow) sent[1]++;
      if (place != 0) `CHECK(out.valid, "no gap inside a frame")
      if (out.valid && out.ready) begin
        if (place == 0) begin
          path = expected[1].size() != 0 && beat.data == content(expected[1][0].id, 0) ? 1 : 0;
          `CHECK(expected[path].size() != 0, "a frame nobody sent")
          want = expected[path].pop_front();
        end
        `CHECK(beat.data == content(want.id, place), "a word of a frame")
        `CHECK(beat.sop == (place == 0) && !beat.err, "its start")
        `CHECK(beat.eop == (place + 1 == words_of(want.bytes)), "its end")
        `CHECK(32'(beat.len) == (beat.eop ? want.bytes - 8 * place : 8), "its length")
        place = beat.eop ? 0 : place + 1;
        if (beat.eop) gone[path]++;
      end
    end

  initial begin
    @(negedge rst);
    for (int round = 0; round < 30; round++) begin
      turns = 1'(round);
      bad_slow = 1'(round >> 1);
      in_percent = $urandom_range(100, 5);
      out_percent = $urandom_range(100, 20);
      repeat (1500) @(posedge clk);
      // Until both are empty.
      in_percent = 0;
      repeat (1200) @(posedge clk);
      `CHECK(expected[0].size() == 0 && expected[1].size() == 0 && word < 0, "frames have not left")
      `CHECK(
          fast_used == '0 && slow_used == '0 && empty == '1 && 32'(room[0]) == Words && 32'(slow_room) == Words,
          "nothing is held")
      `CHECK(told == bad, $sformatf("%0d of %0d drops are told of", told, bad))
      `CHECK(sent == gone, "frames that left are told of, by path")
    end
    `CHECK(bad > 60 && twice > 20 && gone[0] > 200 && gone[1] > 200, $sformatf(
           "%0d dropped, in %0d clocks two, %0d and %0d went out", bad, twice, gone[0], gone[1]))
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// frame_queues of a size that is no power of two: frames come out as they went in, in the order of their queue; a frame is dropped
/// whole exactly when it does not fit, and an abort takes back what came of one; room is what the frames and their headers leave.
module frame_queues_tb;
  import direct_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Queues = 3, Words = 37, Frames = 7;  // of a queue; frames as its lengths have places for
  localparam int QueueW = $clog2(Queues);
  `include "frames_tb.svh"

frame_write_t write = '0;
  logic [QueueW-1:0] write_queue = '0;
  logic accepted, dropped;
  frame_read_if #(.Queues(Queues)) read ();
  logic [QueueW-1:0] queue = '0;
  logic load = 0, next_bytes = 0, next_word = 0, free = 0;
  words_t free_packets = '0, free_words = '0;
  assign read.queue = queue;
  assign read.load = load;
  assign read.next_bytes = next_bytes;
  assign read.next_word = next_word;
  assign read.free = free;
  assign read.free_packets = free_packets;
  assign read.free_words = free_words;
  frame_queues #(
      .Queues(Queues),
      .Bytes (8 * Words + 5)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .write_i(write),
      .write_queue_i(write_queue),
      .accepted_o(accepted),
      .dropped_o(dropped),
      .read
  );

  // Frames one by one: `word` is what is driven now, of `now`; -1 between frames.
  frame_t now;
  int word = -1;
  int unsigned id_q;  // of the frame on the wires
  int unsigned in_percent = 100, aborts = 0;
  always @(posedge clk) begin
    {write.valid, write.abort} <= '0;
    {write.data, write.last, write.bytes} <= {$urandom(), $urandom(), 17'($urandom())};
    if (rst) word = -1;
    else if ($urandom_range(99) < in_percent) begin
      automatic bit again = word >= 0 && $urandom_range(29) == 0;
      if (again) aborts++;
      write.abort <= again;
      if (again) word = -1;
      if (!again || $urandom_range(2) != 0) begin  // else nothing in its place
        if (word < 0) begin
          now.id++;
          now.bytes = $urandom_range(9) == 0 ? $urandom_range(330, 250) :
              $urandom_range($urandom_range(1) == 0 ? 20 : 150, 1);
          write_queue <= QueueW'($urandom_range(Queues - 1));
          word = 0;
        end
        id_q <= now.id;
        write <= '{
            valid: 1'b1,
            abort: again,
            data: content(now.id, word),
            last: word + 1 == int'(words_of(now.bytes)),
            bytes: 16'(now.bytes)
        };
        word = word + 1 == int'(words_of(now.bytes)) ? -1 : word + 1;
      end
    end
  end

  // What must be there.
  // The index has exactly the range of the array: Verilator 5.048 works on a copy of a queue that may not be there.
  frame_t held[2**QueueW][$];
  int unsigned used[Queues] = '{default: 0}, count = 0, taken = 0, lost_frames = 0, full = 0;
  bit open = 0, lost = 0;
  always @(posedge clk)
    if (rst) begin
      foreach (held[q]) held[q].delete();
      used = '{default: 0};
      {open, lost} = '0;
    end else begin
      automatic logic [QueueW-1:0] q = write_queue;
      automatic bit fits;
      for (int i = 0; i < Queues; i++)
        `CHECK(32'(read.used[i]) == used[i], $sformatf(
               "queue %0d: %0d words, not %0d", i, read.used[i], used[i]))
      if (write.abort) {open, lost} = '0;
      count = (open ? count : 0) + 1;
      fits  = !lost && held[q].size() < Frames && used[q] + count + 1 <= Words;
      `CHECK(accepted == (write.valid && write.last && fits),
             "a frame that fits is taken, no other")
      `CHECK(dropped == (write.valid && write.last && !fits),
             "a frame that does not fit is dropped, no other")
      if (dropped) lost_frames++;
      if (dropped && used[q] + count + 1 <= Words && held[q].size() == Frames) full++;
      if (write.valid) begin
        if (accepted) begin
          held[q].push_back('{id_q, 32'(write.bytes)});
          used[q] += count + 1;
          taken++;
        end
        open = !write.last;
        lost = open && !fits;
      end else count = open ? count - 1 : 0;
      if (read.free) begin
        repeat (32'(read.free_packets)) void'(held[read.queue].pop_front());
        used[read.queue] -= 32'(read.free_words);
      end
    end
  // The reader looks at frames of a queue, and frees some of those. Between clock edges.
  int unsigned checked = 0;
  task automatic look();
    automatic logic [QueueW-1:0] q = QueueW'($urandom_range(Queues - 1));
    automatic int unsigned frames, freed = 0, words = 0;
    queue = q;
    @(negedge clk);
    if (rst || held[q].size() == 0) return;
    frames = $urandom_range(held[q].size(), 1);
    load   = 1;
    @(negedge clk);
    load  = 0;
    queue = QueueW'($urandom_range(Queues - 1));
    for (int unsigned f = 0; f < frames; f++) begin
      automatic frame_t want = held[q][f];
      next_bytes = 1;
      @(negedge clk);
      next_bytes = 0;
      `CHECK(read.bytes == 16'(want.bytes), $sformatf(
             "a frame of %0d bytes has %0d", want.bytes, read.bytes))
      for (int unsigned w = 0; w < words_of(want.bytes); w++) begin
        next_word = 1;
        @(negedge clk);
        next_word = 0;
        repeat ($urandom_range(9) == 0 ? 3 : 0) @(negedge clk);
        `CHECK(read.word == content(want.id, w), "a word of a frame")
      end
      checked++;
    end
    freed = $urandom_range(frames);
    for (int unsigned f = 0; f < freed; f++) words += words_of(held[q][f].bytes) + 1;
    queue = q;
    free = freed != 0;
    free_packets = words_t'(freed);
    free_words = words_t'(words);
    @(negedge clk);
    free = 0;
    @(negedge clk);
  endtask

  initial begin
    now = '{0, 0};
    @(negedge rst);
    for (int round = 0; round < 240; round++) begin
      in_percent = $urandom_range(1) == 0 ? $urandom_range(20, 1) : $urandom_range(100, 20);
      repeat (40) look();
      if (round == 30) begin  // a reset of one clock, with a frame on its way
        in_percent = 100;
        repeat (9) @(posedge clk);
        rst <= 1;
        @(posedge clk) rst <= 0;
        @(posedge clk);
      end
    end
    `CHECK(checked > 1500 && taken > 700 && lost_frames > 250 && full > 10 && aborts > 50,
           $sformatf(
           "%0d looked at, %0d taken, %0d lost, %0d of them for lengths, %0d aborted",
           checked,
           taken,
           lost_frames,
           full,
           aborts
           ))
    `TB_PASS
  end
endmodule

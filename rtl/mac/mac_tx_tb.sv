// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// mac_tx: contents, padding, time stamps (at once, late or never from the MAC), no gap inside a frame and no bubble between frames;
/// then with each side reset at random: whole frames come out whole or, where the MAC was reset, not at all; each has a stamp. For the 100G stream;
/// mac_tx_byte_tb has the same for that of 1G, with byte_unpack behind it, mac_tx_wide_tb for a wide core.
module mac_tx_tb
  import eth_pkg::*;
#(
    parameter type Beat = frame_beat_t,
    parameter type Wide = Beat
);
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam bit Bytes = $bits(Beat) == $bits(word_beat_t);
  localparam int BeatBytes = Bytes ? 8 : 64;
  localparam int Step = Bytes ? 1 : 64;  // bytes that the MAC takes in a clock

  logic mac_clk = 0, mac_rst = 1;
  real mac_half = Bytes ? 2.667 : 3.88;  // against 5 of clk; edges never coincide
  initial #0.003 forever #(mac_half) mac_clk = !mac_clk;
  initial begin
    repeat (4) @(negedge mac_clk);
    mac_rst = 0;
  end
  logic core_rst_now = 0;
  wire  core_rst = rst || core_rst_now;
  bit   resets = 0;  // the part of the test that has some

  `STREAM_ON(Wide, frame, clk, core_rst)
  `STREAM_ON(ptp_time_t, stamp, clk, core_rst)
  logic tx_valid, tx_ready = 0;
  frame_beat_t tx;  // what the MAC takes, in the lowest lanes
  ptp_time_t now = 0, late_time = 0;
  logic late = 0, late_valid = 0;
  logic beat_valid, beat_ready;
  Beat beat;
  mac_tx #(
      .Beat(Beat),
      .Wide(Wide),
      .Depth(Bytes ? 256 : 128),
      .StartBeats(Bytes ? 200 : 64),
      .StampDepth(Bytes ? 0 : 16)
  ) dut (
      .clk_i(clk),
      .rst_i(core_rst),
      .frame,
      .stamp,
      .mac_clk_i(mac_clk),
      .mac_rst_i(mac_rst),
      .time_i(now),
      .late_i(late),
      .late_valid_i(late_valid),
      .late_time_i(late_time),
      .tx_valid_o(beat_valid),
      .tx_ready_i(beat_ready),
      .tx_o(beat)
  );
  if (Bytes) begin : g_bytes
    byte_beat_t tx_byte;
    byte_unpack i_unpack (
        .clk_i(mac_clk),
        .rst_i(mac_rst),
        .word_valid_i(beat_valid),
        .word_ready_o(beat_ready),
        .word_i(beat),
        .byte_valid_o(tx_valid),
        .byte_ready_i(tx_ready),
        .byte_o(tx_byte)
    );
    assign tx = '{
            data: 512'(tx_byte.data),
            len: 7'd1,
            sop: tx_byte.sop,
            eop: tx_byte.eop,
            err: tx_byte.err
        };
  end else begin : g_beats
    assign tx_valid = beat_valid;
    assign tx = beat;
    assign beat_ready = tx_ready;
  end

  function automatic byte unsigned content(int unsigned id, int unsigned i);
    return resets && i < 4 ? 8'(id >> (8 * i)) : 8'(id * 7 + i * 13 + (i >> 6) + 1);
  endfunction

  // Source: pauses between frames, inside of one only where all of it fits.
  int unsigned
      sent_len[$],
      to_send = 0,
      min_len = 60,
      max_len = 60,
      pause_percent = 0,
      hole_percent = 0,
      bad_percent = 0;
  bit sent_err[$];
  int unsigned sent = 0;
  `FRAME_SOURCE(Wide, i_source, frame, 100 - pause_percent, 100 - hole_percent)
  task automatic make_frame();
    bytes_t bytes;
    int unsigned len = $urandom_range(max_len, min_len);
    bit err = $urandom_range(99) < bad_percent;
    for (int unsigned i = 0; i < len; i++) bytes.push_back(content(sent, i));
    i_source.send(bytes, err);
    sent_len.push_back(len);
    sent_err.push_back(err);
    sent++;
    to_send--;
  endtask
  always @(posedge clk) while (to_send != 0 && i_source.queue.size() < 4 && !rst) make_frame();

  // MAC.
  int unsigned
      ready_percent = 100,
      stamp_percent = 100,
      late_percent = 0,
      never_percent = 0,
      late_clocks = 0,  // in which no frame may begin: the newest one's time is not known
      got = 0,
      out_at = 0,
      beats = 0,
      bubbles = 0,
      stamped = 0;
  `STREAM_SINK(ptp_time_t, i_stamps, stamp, stamp_percent)
  ptp_time_t want_stamp[$];
  bit never;  // is it said
  always @(posedge mac_clk) begin
    now <= now + 3;
    tx_ready <= !mac_rst && $urandom_range(99) < ready_percent;
    late_valid <= 0;
    if (!Bytes) begin
      late <= $urandom_range(99) < late_percent;
      late_time <= now + $urandom_range(1000, 1);
    end
    if (tx_ready && !tx_valid && !mac_rst) bubbles++;
    if (!mac_rst && !resets && out_at != 0) `CHECK(tx_valid, "a gap inside a frame")
    if (tx_valid && tx_ready && !mac_rst && !resets) begin
      int unsigned want, n;
      beats++;
      `CHECK(got < sent, "a frame too many")
      want = sent_len[got] < MinFrame ? MinFrame : sent_len[got];
      n = want - out_at > Step ? Step : want - out_at;
      `CHECK(tx.sop == (out_at == 0) && tx.eop == (out_at + n == want) && 32'(tx.len) == n,
             "wrong marks of a beat")
      `CHECK(tx.err == (tx.eop && sent_err[got]), "wrong err")
      for (int unsigned i = 0; i < n; i++)
        `CHECK(tx.data[8*i+:8] == (out_at + i < sent_len[got] ? content(got, out_at + i) : 8'd0),
               "wrong byte")
      `CHECK(!tx.sop || late_clocks == 0, "a frame begins before the time of the last one is known")
      if (tx.sop && !Bytes && !late) want_stamp.push_back(now);
      out_at = tx.eop ? 0 : out_at + Step;
      if (tx.eop) got++;
    end
    if (tx_valid && tx_ready && tx.sop && late) begin
      never = $urandom_range(99) < never_percent;
      late_clocks = never ? 1024 : $urandom_range(20, 2);
      if (never && !resets) want_stamp.push_back(now);
    end
    if (late_clocks != 0) late_clocks--;
    if (mac_rst) late_clocks = 0;
    if (late_clocks == 1 && !never) begin
      ptp_time_t said = now + $urandom_range(1000, 1);
      late_valid <= 1;
      late_time  <= said;
      if (!resets) want_stamp.push_back(said);
    end
  end
  always @(posedge clk) begin
    if (stamp.valid && stamp.ready && !core_rst && !resets) begin
      `CHECK(want_stamp.size() != 0 && stamp.data == want_stamp.pop_front(), "wrong time stamp")
      stamped++;
    end
  end

  task automatic settle();
    while (to_send != 0 || i_source.queue.size() != 0 || frame.valid) @(posedge clk);
    ready_percent = 100;
    stamp_percent = 100;
    repeat (Bytes ? 5000 : never_percent != 0 ? 30_000 : 500) @(posedge clk);
    `CHECK(got == sent && stamped == (Bytes ? 0 : sent) && want_stamp.size() == 0,
           $sformatf("%0d sent, %0d out, %0d stamps", sent, got, stamped))
  endtask

  // With resets: frames that were taken whole and that none has to lose, stamps that are to come.
  int unsigned promised[$], open_id, next_id = 0, last_id, owed = 0, came = 0;
  bit mac_was_reset;  // since the frame began that comes in
  bytes_t bytes;
  always @(posedge clk)
    if (resets) begin
      if (core_rst) begin
        i_source.queue.delete();
        next_id = sent;
        owed = 0;
        came = 0;
      end else begin
        if (frame.valid && frame.ready && frame.data.sop) begin
          open_id = next_id++;
          mac_was_reset = mac_rst;
          owed++;
        end
        if (frame.valid && frame.ready && frame.data.eop && !mac_was_reset)
          promised.push_back(open_id);
        if (stamp.valid && stamp.ready) came++;
        `CHECK(came <= owed, "a stamp too many")
      end
    end
  always @(posedge mac_clk)
    if (resets && mac_rst) begin
      bytes.delete();
      promised.delete();
      mac_was_reset = 1;
    end else if (resets && tx_valid && tx_ready) begin
      `CHECK(tx.sop == (bytes.size() == 0), "sop in the wrong place")
      for (int unsigned i = 0; i < tx.len; i++) bytes.push_back(tx.data[8*i+:8]);
      if (tx.eop) begin
        int unsigned id, want;
        id = {bytes[3], bytes[2], bytes[1], bytes[0]};
        `CHECK(bytes.size() >= MinFrame && id > last_id && id < sent,
               "not a frame that was sent next")
        want = sent_len[id] < MinFrame ? MinFrame : sent_len[id];
        if (!tx.err || promised.size() != 0 && id == promised[0]) begin
          `CHECK(tx.err == sent_err[id] && bytes.size() == want, "not as it was sent")
          foreach (bytes[i])
            `CHECK(bytes[i] == (i < sent_len[id] ? content(id, i) : 8'd0), "wrong byte")
        end
        `CHECK(promised.size() == 0 || id <= promised[0], $sformatf("%0d was lost", promised[0]))
        if (promised.size() != 0 && id == promised[0]) void'(promised.pop_front());
        last_id = id;
        bytes.delete();
        got = id + 1;
      end
    end

  task automatic reset_at_random();
    bit of_mac = 1'($urandom()), of_core = !of_mac || $urandom_range(3) == 0;
    ready_percent = $urandom_range(100, 20);
    stamp_percent = $urandom_range(100, 20);
    max_len = $urandom_range(Bytes ? 1500 : 3000, 64);
    to_send = $urandom_range(30);
    repeat ($urandom_range(Bytes ? 1000 : 100)) @(posedge clk);
    fork
      if (of_mac) begin
        @(negedge mac_clk) mac_rst = 1;
        repeat ($urandom_range(3) == 0 ? 300 : $urandom_range(30, 1)) @(negedge mac_clk);
        mac_rst = 0;
      end
      if (of_core) begin
        @(negedge clk) core_rst_now = 1;
        to_send = 0;
        repeat ($urandom_range(3) == 0 ? 300 : $urandom_range(30, 1)) @(negedge clk);
        core_rst_now = 0;
      end
    join
    // Then one that comes through.
    if ($urandom_range(2) == 0) begin
      to_send += 1;
      while (to_send != 0 || i_source.queue.size() != 0 || frame.valid) @(posedge clk);
      ready_percent = 100;
      stamp_percent = 100;
      repeat (Bytes ? 8000 : 1000) @(posedge clk);
      `CHECK(got == sent && promised.size() == 0 && bytes.size() == 0, "a frame is left")
      `CHECK(Bytes || came == owed, $sformatf("%0d stamps of %0d", came, owed))
    end
  endtask

  initial begin
    int unsigned start;
    @(negedge rst);
    if (Bytes) begin
      // Short frames and long ones at a byte a MAC clock, no bubble once it runs.
      for (int round = 0; round < 2; round++) begin
        min_len = round == 0 ? 60 : 1514;
        max_len = min_len;
        to_send = 200;
        while (beats == 0 || to_send > 100) @(posedge clk);
        start = bubbles;
        repeat (1000) @(posedge clk);
        `CHECK(to_send != 0 && bubbles == start, $sformatf("%0d bubbles", bubbles - start))
        settle();
      end
      // Frames longer than the store.
      min_len = 9000;
      max_len = 9018;
      to_send = 10;
      settle();
      // One word a clock when the store is empty: 60 bytes take 8 words, no more than 8 clocks each.
      min_len = 60;
      max_len = 60;
      start   = i_source.taken;
      to_send = 30;
      repeat (205) @(posedge clk);
      `CHECK(i_source.taken - start >= 200, $sformatf("%0d words in 205 clocks",
                                                      i_source.taken - start))
      settle();
    end else begin
      // 60-byte frames, one a core clock.
      to_send = 1200;
      repeat (50) @(posedge clk);
      start = beats;
      repeat (1000) @(posedge clk);
      `CHECK(beats - start >= 998, $sformatf("%0d small frames in 1000 clocks", beats - start))
      settle();
      // Two beats of the MAC for each of the core: one in each of its clocks.
      if ($bits(Wide) != $bits(Beat)) begin
        min_len = 65;
        max_len = 128;
        to_send = 1200;
        repeat (50) @(posedge clk);
        start = bubbles;
        repeat (1000) @(posedge clk);
        `CHECK(to_send != 0 && bubbles == start, $sformatf("%0d bubbles", bubbles - start))
        settle();
      end
      // The longest frames to a MAC that takes a beat in each of its clocks: no gap.
      min_len = 16300;
      max_len = 16383;
      to_send = 10;
      settle();
      // A MAC slower than the core: it never waits between frames.
      min_len = 60;
      max_len = 1514;
      ready_percent = 60;
      to_send = 200;
      repeat (200) @(posedge clk);
      start = bubbles;
      repeat (1000) @(posedge clk);
      `CHECK(to_send != 0 && bubbles == start, $sformatf("%0d bubbles", bubbles - start))
      settle();
    end
    // Short frames, aborted frames, pauses, slow stamps, any ready; holes and other clocks for bytes.
    for (int round = 0; round < 30; round++) begin
      if (Bytes) mac_half = round[0] ? 2.667 : 7.31;
      hole_percent = Bytes && round % 4 == 1 ? $urandom_range(70) : 0;
      ready_percent = $urandom_range(100, 10);
      stamp_percent = $urandom_range(100, 3);
      pause_percent = $urandom_range(90);
      bad_percent = $urandom_range(20);
      late_percent = Bytes || round % 2 == 0 ? 0 : $urandom_range(60);
      never_percent = round % 10 == 1 ? 5 : 0;
      min_len = $urandom_range(64, 1);
      max_len = round % 3 == 0 ? 70 : $urandom_range(Bytes ? 1518 : 9018, 64);
      to_send = 60;
      settle();
    end
    min_len = 4;
    bad_percent = 10;
    pause_percent = 20;
    hole_percent = 0;
    late_percent = 20;
    never_percent = 0;
    resets = 1;
    next_id = sent;
    last_id = sent - 1;
    repeat (Bytes ? 40 : 400) reset_at_random();
    `TB_PASS
  end
endmodule

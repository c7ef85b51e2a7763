// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// mac_rx: contents, time stamps and the fate of every frame, at line rate, with gaps, and with a sink that stalls; then with each
/// side reset at random: no frame stays open, none comes out that is neither whole nor marked. For the 100G stream;
/// mac_rx_byte_tb has the same for that of 1G, with byte_pack before it, mac_rx_wide_tb for a wide core.
module mac_rx_tb
  import eth_pkg::*;
#(
    parameter type Beat = frame_beat_t,
    parameter type Wide = Beat
);
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam bit Bytes = $bits(Beat) == $bits(word_beat_t);
  localparam int Step = Bytes ? 1 : 64;  // bytes that the MAC gives in a clock
  localparam int MaxFrame = Bytes ? 500 : 1000;

  logic mac_clk = 0, mac_rst = 1;
  real mac_half = Bytes ? 2.667 : 3.88;  // against 5 of clk; edges never coincide
  initial #0.003 forever #(mac_half) mac_clk = !mac_clk;
  initial begin
    repeat (4) @(negedge mac_clk);
    mac_rst = 0;
  end
  logic core_rst_now = 0;
  wire  core_rst = rst || core_rst_now;

  logic rx_valid = 0, next_valid = 0;  // what the MAC drives in this and in the next clock
  Beat rx, next;
  ptp_time_t now = 0;
  `STREAM_ON(Wide, frame, clk, core_rst)
  `STREAM_ON(ptp_time_t, stamp, clk, core_rst)
  mac_rx_count_t count;
  logic packed_valid;
  Beat packed_rx;
  mac_rx #(
      .Beat(Beat),
      .Wide(Wide),
      .Depth($bits(Wide) == $bits(Beat) ? 64 : 32),
      .StampDepth(Bytes ? 0 : 32)
  ) dut (
      .mac_clk_i(mac_clk),
      .mac_rst_i(mac_rst),
      .rx_valid_i(packed_valid),
      .rx_i(packed_rx),
      .time_i(now),
      .clk_i(clk),
      .rst_i(core_rst),
      .max_frame_i(14'(MaxFrame)),
      .frame,
      .stamp,
      .count_o(count)
  );
  if (Bytes) begin : g_bytes
    byte_pack i_pack (
        .clk_i(mac_clk),
        .rst_i(mac_rst),
        .byte_valid_i(rx_valid),
        .byte_i('{data: rx.data[7:0], sop: rx.sop, eop: rx.eop, err: rx.err}),
        .word_valid_o(packed_valid),
        .word_o(packed_rx)
    );
  end else begin : g_beats
    assign packed_valid = rx_valid;
    assign packed_rx = rx;
  end

  // What was sent, by the number in the frame's first four bytes.
  typedef enum int {
    Good,
    BadFcs,
    Runt,
    Oversize
  } fate_e;
  int unsigned sent_len[$];
  fate_e sent_fate[$];
  ptp_time_t sent_stamp[$];
  int unsigned sent_of[4], sent_bytes = 0, sent_bad_runts = 0;

  function automatic byte unsigned content(int unsigned id, int unsigned i);
    return i < 4 ? 8'(id >> (8 * i)) : 8'(id * 7 + i * 13 + (i >> 6));
  endfunction

  task automatic send(int unsigned len, bit bad, int unsigned gap, int unsigned hole_percent = 0);
    int unsigned id = sent_len.size();
    fate_e fate = len < MinFrame ? Runt : len > MaxFrame ? Oversize : bad ? BadFcs : Good;
    sent_len.push_back(len);
    sent_fate.push_back(fate);
    sent_of[fate]++;
    if (fate != Oversize) sent_bytes += len;
    sent_bad_runts += 32'(fate == Runt && bad);
    for (int unsigned at = 0; at < len; at += Step) begin
      next_valid = 0;
      while (hole_percent != 0 && $urandom_range(99) < hole_percent) @(posedge mac_clk);
      next_valid = 1;
      next.sop   = at == 0;
      next.eop   = at + Step >= len;
      next.err   = next.eop && bad;
      next.len   = $bits(next.len)'(len - at > Step ? Step : len - at);
      for (int unsigned i = 0; i < Step; i++)
      next.data[8*i+:8] = at + i < len ? content(id, at + i) : 8'hee;
      @(posedge mac_clk);
    end
    next_valid = 0;
    next = '0;
    repeat (gap) @(posedge mac_clk);
  endtask
  always @(posedge mac_clk) begin
    now <= now + 3;
    rx_valid <= next_valid;
    rx <= next;
    if (rx_valid && rx.sop) sent_stamp.push_back(now);
  end

  int unsigned counted[5], counted_bytes = 0, bad_runts = 0;
  int unsigned ready_percent = 100, stamp_percent = 80, delivered = 0, marked = 0, frames_out = 0;
  `STREAM_SINK(Wide, i_sink, frame, ready_percent)
  `STREAM_SINK(ptp_time_t, i_stamps, stamp, stamp_percent)
  int last_id = -1;
  byte unsigned bytes[$];
  ptp_time_t stamps[$];
  int unsigned ids[$];
  always @(posedge clk) begin
    if (frame.valid && frame.ready && !core_rst) begin
      `CHECK(frame.data.sop == (bytes.size() == 0), "sop in the wrong place")
      `CHECK(int'(frame.data.len) inside {[1 : $bits(frame.data.data)
             / 8]} && (frame.data.eop || 8 * frame.data.len == $bits(frame.data.data)),
             "a short beat inside a frame")
      `CHECK(frame.data.eop || !frame.data.err, "err without eop")
      for (int i = 0; i < int'(frame.data.len); i++) bytes.push_back(frame.data.data[8*i+:8]);
      if (frame.data.sop && !Bytes) ids.push_back({bytes[3], bytes[2], bytes[1], bytes[0]});
      if (frame.data.eop) begin
        int unsigned id;
        frames_out++;
        if (frame.data.err) marked++;
        else begin
          delivered++;
          id = {bytes[3], bytes[2], bytes[1], bytes[0]};
          `CHECK(int'(id) > last_id && id < sent_len.size(), "frames out of order")
          last_id = int'(id);
          `CHECK(sent_fate[id] == Good, "a bad frame came out as good")
          `CHECK(bytes.size() == sent_len[id], "wrong length")
          foreach (bytes[i]) `CHECK(bytes[i] == content(id, i), "wrong byte")
        end
        bytes.delete();
      end
    end
    if (stamp.valid && stamp.ready && !core_rst) stamps.push_back(stamp.data);
    while (stamps.size() != 0 && ids.size() != 0) begin
      `CHECK(stamps[0] == sent_stamp[ids[0]], $sformatf(
             "frame %0d: time stamp %0d, not %0d", ids[0], stamps[0], sent_stamp[ids[0]]))
      void'(stamps.pop_front());
      void'(ids.pop_front());
    end
    if (core_rst) begin
      bytes.delete();
      stamps.delete();
      ids.delete();
    end else begin
      counted[0] += 32'(count.good);
      counted[1] += 32'(count.bad_fcs);
      counted[2] += 32'(count.runt);
      counted[3] += 32'(count.oversize);
      counted[4] += 32'(count.fifo_full);
      if (count.good || count.bad_fcs || count.runt) begin
        counted_bytes += 32'(count.bytes);
        `CHECK(count.runt || count.err == count.bad_fcs, "a frame's error is told wrongly")
      end
      bad_runts += 32'(count.runt && count.err);
    end
  end

  task automatic settle();
    ready_percent = 100;
    repeat (300) @(posedge clk);
    @(posedge mac_clk);
    `CHECK(counted[0] == delivered, "good frames miscounted")
    `CHECK(counted[0] + counted[1] + counted[2] + counted[3] + counted[4] == sent_len.size(),
           "a frame has no fate")
    `CHECK(ids.size() == 0 && stamps.size() == 0 && bytes.size() == 0, "something is left over")
  endtask

  // Resets while frames come; then all that come are good ones.
  task automatic reset_at_random();
    bit of_mac = 1'($urandom()), of_core = !of_mac || $urandom_range(3) == 0;
    int unsigned so_far;
    ready_percent = $urandom_range(100, 20);
    @(posedge mac_clk);
    fork
      repeat ($urandom_range(
          4, 1
      ))
      send($urandom_range(MaxFrame + 200, 1), $urandom_range(9) == 0, $urandom_range(30));
      begin
        repeat ($urandom_range(Bytes ? 500 : 40)) @(posedge mac_clk);
        fork
          if (of_mac) begin
            @(negedge mac_clk) mac_rst = 1;
            repeat ($urandom_range(8, 1)) @(negedge mac_clk);
            mac_rst = 0;
          end
          if (of_core) begin
            @(negedge clk) core_rst_now = 1;
            repeat ($urandom_range(3) == 0 ? 200 : $urandom_range(8, 1)) @(negedge clk);
            core_rst_now = 0;
          end
        join
      end
    join
    ready_percent = 100;
    repeat (150) @(posedge clk);
    `CHECK(bytes.size() == 0 && ids.size() == 0 && stamps.size() == 0, "a frame is left open")
    so_far = delivered;
    @(posedge mac_clk);
    for (int i = 0; i < 3; i++) send($urandom_range(MaxFrame, MinFrame), 0, 20);
    repeat (100) @(posedge clk);
    `CHECK(delivered == so_far + 3, "a frame behind a reset was lost")
  endtask

  initial begin
    @(negedge rst);
    repeat (10) @(posedge mac_clk);
    // The rest of a frame that began in reset leaves no trace.
    begin
      next = '0;
      next.len = $bits(next.len)'(Step);
      next_valid = 1;
      repeat (3) @(posedge mac_clk);
      next.eop = 1;
      @(posedge mac_clk);
      next_valid = 0;
      next = '0;
      settle();
      `CHECK(frames_out == 0, "a frame without a head")
    end
    // 60-byte frames at line rate (at 100 Gb/s 2.17 MAC clocks each), then long ones in bursts of a whole frame: all must pass.
    for (int i = 0; i < 600; i++) send(60, 0, Bytes ? 0 : i % 6 == 0 ? 2 : 1);
    settle();
    for (int i = 0; i < 100; i++) send(MaxFrame, 0, Bytes ? 0 : 9);
    settle();
    `CHECK(delivered == 700, "lost a frame at line rate")
    // A beat in each MAC clock, two a frame.
    if ($bits(Wide) != $bits(Beat)) begin
      for (int i = 0; i < 600; i++) send(65, 0, 0);
      settle();
      `CHECK(delivered == 1300, "lost a frame of 65 bytes")
    end
    // Nobody takes time stamps: a frame whose stamp has no place waits, one that has begun goes on.
    if (!Bytes) begin
      int unsigned sent_on;
      sent_on = frames_out;
      stamp_percent = 0;
      for (int i = 0; i < 35; i++) send(i == 31 ? 300 : 60, 0, 4);
      repeat (100) @(posedge clk);
      `CHECK(frames_out == sent_on + 32, "a frame left without a place for its stamp")
      stamp_percent = 80;
      settle();
      `CHECK(delivered == sent_on + 35, "a frame was lost for want of time stamps")
    end
    // Every kind of frame, without overflow, bytes on slow and fast clocks: each count is exact.
    for (int round = 0; round < 4; round++) begin
      if (Bytes) mac_half = round == 3 ? 7.31 : 2.667 + 0.41 * round;
      for (int i = 0; i < 400; i++) begin
        int unsigned len, kind;
        kind = $urandom_range(9);
        unique case (kind)
          0: len = $urandom_range(59, 1);
          1: len = $urandom_range(MaxFrame + 700, MaxFrame - 2);
          2: len = Bytes ? 8 * $urandom_range(50, 1) : 64 * $urandom_range(15, 1);
          3: len = $urandom_range(65, 55);
          default: len = $urandom_range(Bytes ? 200 : MaxFrame, 60);
        endcase
        if (Bytes) send(len, $urandom_range(9) == 0, $urandom_range(3), $urandom_range(1) * 30);
        else send(len, $urandom_range(9) == 0, (len / 64) / 2 + 2 + $urandom_range(3));
      end
      settle();
    end
    `CHECK(counted[4] == 0, "overflow without cause")
    `CHECK(counted[0] == sent_of[Good] && counted[1] == sent_of[BadFcs],
           "good or bad frames miscounted")
    `CHECK(counted[2] == sent_of[Runt] && counted[3] == sent_of[Oversize],
           "runt or oversize frames miscounted")
    `CHECK(counted_bytes == sent_bytes && bad_runts == sent_bad_runts,
           "bytes or bad runts miscounted")
    // A sink that is too slow: frames are lost whole or marked, the sum still holds.
    if (Bytes) mac_half = 2.667;
    for (int round = 0; round < 12; round++) begin
      ready_percent = $urandom_range(Bytes ? 15 : 40);
      for (int i = 0; i < 120; i++) begin
        send($urandom_range(9) < 3 ? $urandom_range(MaxFrame + 300, 1) : $urandom_range(200, 50),
             $urandom_range(9) == 0, $urandom_range(3));
      end
      settle();
    end
    `CHECK(counted[4] > 100, "the overflow test did not overflow")
    `CHECK(frames_out == delivered + marked && marked > 0, "no frame was marked")
    repeat (300) reset_at_random();
    `TB_PASS
  end
endmodule

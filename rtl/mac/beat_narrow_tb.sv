// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// beat_narrow, and beat_widen behind it: frames of every length come out beat by beat as a plain model cuts them, no beat is empty, and
/// side by side again they are what went in, each beat with the time of its first byte.
module beat_narrow_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Frames = 3000;

  `STREAM_ON(wide_beat_t, in, clk, rst)
  `STREAM_ON(frame_beat_t, out, clk, rst)
  beat_narrow dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out
  );
  `STREAM_SOURCE(wide_beat_t, i_in, in, 80)
  `STREAM_SINK(frame_beat_t, i_out, out, 80)
  ptp_time_t now = '0, time_out;
  logic valid_out;
  wide_beat_t beat_out;
  beat_widen i_widen (
      .clk_i  (clk),
      .rst_i  (rst),
      .valid_i(out.valid && out.ready),
      .beat_i (out.data),
      .time_i (now),
      .valid_o(valid_out),
      .beat_o (beat_out),
      .time_o (time_out)
  );

  // What is to come out of either, the first halves' times, and how many frames have.
  frame_beat_t halves[$];
  wide_beat_t  wholes[$];
  ptp_time_t   began;
  int unsigned frames_out = 0, place = 0;
  function automatic bit same(wide_beat_t a, wide_beat_t b);
    if (a.len != b.len || a.sop != b.sop || a.eop != b.eop || a.err != b.err) return 0;
    for (int i = 0; i < int'(a.len); i++) if (a.data[8*i+:8] != b.data[8*i+:8]) return 0;
    return 1;
  endfunction
  function automatic wide_beat_t widened(frame_beat_t half);
    return
    '{len: 8'(half.len), sop: half.sop, eop: half.eop, err: half.err, data: 1024'(half.data)}
    ;
  endfunction
  always @(posedge clk) begin
    now <= now + 1'b1;
    if (!rst && out.valid && out.ready) begin
      frame_beat_t want;
      want = halves.pop_front();
      `CHECK(out.data.len != '0 && same(widened(out.data), widened(want)), "half")
      if (place == 0) began = now;
      place = place == 1 || out.data.eop ? 0 : 1;
      `CHECK(valid_out == (place == 0),
             "a whole beat is there with its second half, or the frame's end")
      if (valid_out) begin
        `CHECK(same(beat_out, wholes.pop_front()), "whole")
        `CHECK(time_out == began, "the time of the first byte")
        frames_out += 32'(beat_out.eop);
      end
    end else `CHECK(rst || !valid_out, "nothing out of nothing")
  end

  initial begin
    @(negedge rst);
    for (int n = 0; n < Frames; n++) begin
      automatic int left = n < 600 ? n + 1 : $urandom_range(600, 1);
      automatic bit err = $urandom_range(9) == 0;
      automatic bit sop = 1;
      while (left > 0) begin
        wide_beat_t  w;
        frame_beat_t h;
        w = '{
            len: 8'(left > 128 ? 128 : left),
            sop: sop,
            eop: left <= 128,
            err: err && left <= 128,
            data: '0
        };
        for (int i = 0; i < 32; i++) w.data[32*i+:32] = $urandom();
        for (int at = 0; at < int'(w.len); at += 64) begin
          h = '0;
          h.len = 7'(int'(w.len) - at > 64 ? 64 : int'(w.len) - at);
          h.sop = w.sop && at == 0;
          h.eop = w.eop && at + 64 >= int'(w.len);
          h.err = w.err && h.eop;
          h.data = w.data[8*at+:512];
          halves.push_back(h);
        end
        wholes.push_back(w);
        i_in.queue.push_back(w);
        sop = 0;
        left -= 128;
      end
      while (i_in.queue.size() > 8) @(posedge clk);
    end
    repeat (200) @(posedge clk);
    `CHECK(frames_out == Frames && halves.size() == 0 && wholes.size() == 0, "all are out")
    `TB_PASS
  end
endmodule

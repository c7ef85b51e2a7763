// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_hook and tx_hook: frames of all lengths, good and bad, with their infos and commands, under back-pressure from both sides:
/// all come out as they went in, a beat a clock. +any_hook: they may hold frames back, drop received ones and change what is in
/// them; frames stay whole, in number (dropped ones end with err and are counted), with one info each, and none is stuck.
module port_hooks_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  bit any_hook = $test$plusargs("any_hook") != 0;

  // ---------------------------------------------------------------- received
  `STREAM_ON(wide_beat_t, rx_in, clk, rst)
  `STREAM_ON(rx_info_t, info_in, clk, rst)
  `STREAM_ON(wide_beat_t, rx_out, clk, rst)
  `STREAM_ON(rx_info_t, info_out, clk, rst)
  logic dropped;
  rx_hook i_rx (
      .clk_i(clk),
      .rst_i(rst),
      .frame_in(rx_in),
      .info_in,
      .frame_out(rx_out),
      .info_out,
      .dropped_o(dropped)
  );
  int unsigned in_percent = 100, info_percent = 100, out_percent = 100;
  `FRAME_SOURCE(wide_beat_t, i_frames, rx_in, in_percent, in_percent)
  `STREAM_SOURCE(rx_info_t, i_infos, info_in, info_percent)

  // The sink takes a last beat with its info, as rx_buffer does.
  wide_beat_t out;
  bit go = 0;
  assign out = rx_out.data;
  assign rx_out.ready = go && (!out.eop || info_out.valid);
  assign info_out.ready = rx_out.valid && rx_out.ready && out.eop;

  wide_beat_t beats[$];
  rx_info_t   infos[$];
  int unsigned bad_in = 0, bad_out = 0, drops = 0, rx_frames = 0, rx_beats = 0;
  bit open = 0;
  always @(posedge clk) begin
    go <= $urandom_range(99) < out_percent;
    if (!rst && rx_in.valid && rx_in.ready) beats.push_back(rx_in.data);
    if (!rst && info_in.valid && info_in.ready) infos.push_back(info_in.data);
    if (!rst && dropped) drops++;
    if (!rst && rx_out.valid && rx_out.ready) begin
      `CHECK(out.sop == !open, "start of a received frame")
      `CHECK(out.eop ? out.len != 0 && out.len <= 8'(WideBeatBytes) : out.len == 8'(WideBeatBytes),
             "length of a beat")
      open = !out.eop;
      rx_beats++;
      if (!any_hook) `CHECK(out === beats.pop_front(), "a received beat")
      if (out.eop) begin
        rx_frames++;
        bad_out += 32'(out.err);
        if (!any_hook) `CHECK(info_out.data === infos.pop_front(), "an info")
      end
    end
  end

  // ---------------------------------------------------------------- to be sent
  typedef struct packed {
    tx_csum_t   csum;
    wide_beat_t beat;
  } given_t;
  `STREAM_ON(given_t, given, clk, rst)
  `STREAM_ON(wide_beat_t, tx_in, clk, rst)
  `STREAM_ON(wide_beat_t, tx_out, clk, rst)
  tx_csum_t csum;
  tx_hook i_tx (
      .clk_i(clk),
      .rst_i(rst),
      .frame_in(tx_in),
      .csum_i(given.data.csum),
      .frame_out(tx_out),
      .csum_o(csum)
  );
  `STREAM_SOURCE(given_t, i_given, given, in_percent)
  `STREAM_SINK(wide_beat_t, i_sent, tx_out, out_percent)
  assign tx_in.valid = given.valid;
  assign tx_in.data  = given.data.beat;
  assign given.ready = tx_in.ready;
  given_t went[$];
  int unsigned tx_frames = 0;
  bit sending = 0;
  always @(posedge clk) begin
    wide_beat_t b;
    b = tx_out.data;
    if (!rst && given.valid && given.ready) went.push_back(given.data);
    if (!rst && tx_out.valid && tx_out.ready) begin
      `CHECK(b.sop == !sending, "start of a frame to be sent")
      sending = !b.eop;
      tx_frames += 32'(b.eop);
      if (!any_hook) begin
        `CHECK(b === went[0].beat && csum === went[0].csum, "a beat to be sent")
        void'(went.pop_front());
      end
    end
  end

  int unsigned asked = 0;
  task automatic make(int unsigned count, int unsigned longest);
    repeat (count) begin
      bytes_t bytes;
      bit bad;
      given_t g;
      rx_info_t info;
      int unsigned length;
      length = $urandom_range(longest, 60);
      for (int unsigned i = 0; i < length; i++) bytes.push_back(8'($urandom()));
      bad = $urandom_range(9) == 0;
      bad_in += 32'(bad);
      i_frames.send(bytes, bad);
      info = {$urandom(), $urandom(), $urandom(), $urandom()};
      i_infos.queue.push_back(info);
      for (int unsigned at = 0; at < length; at += WideBeatBytes) begin
        g.csum = tx_csum_t'($urandom());
        for (int i = 0; i < WideBeatBytes; i++) g.beat.data[8*i+:8] = 8'($urandom());
        g.beat.sop = at == 0;
        g.beat.eop = at + WideBeatBytes >= length;
        g.beat.err = 0;
        g.beat.len = 8'(g.beat.eop ? length - at : WideBeatBytes);
        i_given.queue.push_back(g);
      end
      asked++;
    end
  endtask
  task automatic drain(string what);
    for (int i = 0; i < 40000 && (rx_frames != asked || tx_frames != asked); i++) @(posedge clk);
    repeat (20) @(posedge clk);
    `CHECK(rx_frames == asked && tx_frames == asked,
           $sformatf("%s: %0d received, %0d sent, of %0d", what, rx_frames, tx_frames, asked))
    `CHECK(bad_out == bad_in + drops, $sformatf("%s: %0d bad frames of %0d, %0d dropped", what,
                                                bad_out, bad_in, drops))
    `CHECK(i_infos.taken == asked, {what, ": an info a frame"})
  endtask

  initial begin
    int unsigned from;
    @(negedge rst);
    @(posedge clk);
    make(300, 128);
    from = rx_beats;
    repeat (200) @(posedge clk);
    if (!any_hook) `CHECK(rx_beats - from >= 190, "a frame a clock")
    drain("small");
    for (int i = 0; i < 6; i++) begin
      in_percent   = $urandom_range(100, 20);
      info_percent = $urandom_range(100, 20);
      out_percent  = $urandom_range(100, 20);
      make(150, i % 2 == 0 ? 1514 : 200);
      drain("random");
    end
    `TB_PASS
  end
endmodule

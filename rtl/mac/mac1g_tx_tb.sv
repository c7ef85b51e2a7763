// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// mac1g_tx: contents, padding, no gap inside a frame and none between frames.
module mac1g_tx_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)

  logic mac_clk = 0, mac_rst = 1;
  real mac_half = 2.667;  // against 5 of the bus: 125 to 66.67 MHz
  initial #0.003 forever #(mac_half) mac_clk = !mac_clk;
  initial begin
    repeat (4) @(posedge mac_clk);
    mac_rst <= 0;
  end

  `STREAM_ON(word_beat_t, frame, clk, rst)
  logic tx_valid, tx_ready = 0;
  byte_beat_t tx;
  mac1g_tx dut (
      .clk_i(clk),
      .rst_i(rst),
      .frame,
      .mac_clk_i(mac_clk),
      .mac_rst_i(mac_rst),
      .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready),
      .tx_o(tx)
  );

  function automatic byte unsigned content(int unsigned id, int unsigned i);
    return 8'(id * 7 + i * 13 + (i >> 6) + 1);
  endfunction

  // Source: pauses between frames, inside of one too as long as all of it fits.
  int unsigned
      sent_len[$],
      to_send = 0,
      min_len = 60,
      max_len = 60,
      pause_percent = 0,
      hole_percent = 0,
      bad_percent = 0;
  bit sent_err[$];
  int unsigned len = 0, at = 0, sent = 0, words_in = 0;
  bit err;
  always @(posedge clk) begin
    if (!frame.valid || frame.ready) begin
      if (frame.valid) words_in++;
      frame.valid <= 0;
      if (at >= len) begin
        len = 0;
        at  = 0;
        if (to_send != 0 && !rst && $urandom_range(99) >= pause_percent) begin
          to_send--;
          len = $urandom_range(max_len, min_len);
          err = $urandom_range(99) < bad_percent;
          sent_len.push_back(len);
          sent_err.push_back(err);
          sent++;
        end
      end
      if (len != 0 && $urandom_range(99) >= hole_percent) begin
        frame.valid <= 1;
        frame.data.sop <= at == 0;
        frame.data.eop <= at + 8 >= len;
        frame.data.err <= at + 8 >= len && err;
        frame.data.len <= 4'(len - at > 8 ? 8 : len - at);
        for (int unsigned i = 0; i < 8; i++)
        frame.data.data[8*i+:8] <= at + i < len ? content(sent - 1, at + i) : 8'hee;
        at += 8;
      end
    end
    if (rst) frame.valid <= 0;
  end

  // MAC.
  int unsigned ready_percent = 100, got = 0, out_at = 0, bytes = 0, bubbles = 0;
  always @(posedge mac_clk) begin
    tx_ready <= !mac_rst && $urandom_range(99) < ready_percent;
    if (tx_ready && !tx_valid) bubbles++;
    if (!mac_rst && out_at != 0) `CHECK(tx_valid, "a gap inside a frame")
    if (tx_valid && tx_ready) begin
      int unsigned want;
      bytes++;
      `CHECK(got < sent, "a frame too many")
      want = sent_len[got] < MinFrame ? MinFrame : sent_len[got];
      `CHECK(tx.sop == (out_at == 0) && tx.eop == (out_at + 1 == want),
             $sformatf("wrong marks of byte %0d of %0d: %p", out_at, want, tx))
      `CHECK(tx.err == (tx.eop && sent_err[got]), "wrong err")
      `CHECK(tx.data == (out_at < sent_len[got] ? content(got, out_at) : 8'd0), "wrong byte")
      out_at = tx.eop ? 0 : out_at + 1;
      if (tx.eop) got++;
    end
  end

  task automatic settle();
    while (to_send != 0 || frame.valid || len != 0) @(posedge clk);
    ready_percent = 100;
    repeat (5000) @(posedge clk);
    `CHECK(got == sent, $sformatf("%0d sent, %0d out", sent, got))
  endtask

  initial begin
    int unsigned start;
    @(negedge rst);
    // Short frames and long ones at a byte a MAC clock, no bubble once it runs.
    for (int round = 0; round < 2; round++) begin
      min_len = round == 0 ? 60 : 1514;
      max_len = min_len;
      to_send = 200;
      while (bytes == 0 || to_send > 100) @(posedge clk);
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
    // One word a bus clock when the store is empty: 60 bytes take 8 words, no more than 8 clocks each.
    min_len = 60;
    max_len = 60;
    start   = words_in;
    to_send = 30;
    repeat (205) @(posedge clk);
    `CHECK(words_in - start >= 200, $sformatf("%0d words in 205 clocks", words_in - start))
    settle();
    // Short frames, aborted frames, pauses, holes, any ready, other clocks.
    for (int round = 0; round < 30; round++) begin
      mac_half = round[0] ? 2.667 : 7.31;
      ready_percent = $urandom_range(100, 10);
      pause_percent = $urandom_range(95);
      hole_percent = round % 4 == 1 ? $urandom_range(70) : 0;
      bad_percent = $urandom_range(20);
      min_len = $urandom_range(64, 1);
      max_len = round % 3 == 0 ? 70 : $urandom_range(1518, 64);
      to_send = 60;
      settle();
    end
    `TB_PASS
  end
endmodule

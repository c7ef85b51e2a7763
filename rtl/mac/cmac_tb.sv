// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cmac_tx and cmac_rx, and between them a hard block whose receive clock is another: frames of all lengths, good and aborted, a
/// line that stalls; what the block may rely on at its pins; stamps of both ways, of PTP event messages those that the block
/// gives (or, when it gives none, of the handshake), and the timers that the block is given.
module cmac_tb
  import eth_pkg::*;
  import cmac_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(1_000_000)
  logic tx_clk = 0, rx_clk = 0, mac_rst = 1;
  real rx_half = 3.8804;  // 100 ppm above tx_clk
  initial #0.003 forever #3.88 tx_clk = !tx_clk;
  initial #1.007 forever #(rx_half) rx_clk = !rx_clk;
  initial begin
    repeat (20) @(posedge tx_clk);
    // A frame begins in reset, three of its beats come later.
    repeat (6) line.push_back('{data: '1, keep: '1, last: line.size() == 5, user: 1'b0});
    whole = 1;
    wait (line.size() == 4);
    @(posedge rx_clk);
    mac_rst <= 0;
  end
  ptp_time_t now = 0;
  always @(posedge clk) now <= now + 10;

  `STREAM_ON(wide_beat_t, sent, clk, rst)
  `STREAM_ON(ptp_time_t, sent_at, clk, rst)
  `STREAM_ON(wide_beat_t, got, clk, rst)
  `STREAM_ON(ptp_time_t, got_at, clk, rst)
  logic tready = 0;
  cmac_axis_t tx, rx;
  cmac_time_t rx_stamp, timer, tx_timer, tx_stamp;
  logic [1:0] op;
  logic [15:0] tag, tx_stamp_tag;
  logic tx_stamp_valid = 0;
  mac_rx_count_t count;
  cmac_tx i_tx (
      .clk_i(clk),
      .rst_i(rst),
      .time_i(now),
      .frame(sent),
      .stamp(sent_at),
      .mac_clk_i(tx_clk),
      .mac_rst_i(mac_rst),
      .tx_tready_i(tready),
      .tstamp_valid_i(tx_stamp_valid),
      .tstamp_tag_i(tx_stamp_tag),
      .tstamp_i(tx_stamp),
      .tx_o(tx),
      .op_o(op),
      .tag_o(tag),
      .timer_o(tx_timer)
  );
  cmac_rx #(
      .Depth(64)
  ) i_rx (
      .mac_clk_i(rx_clk),
      .mac_rst_i(mac_rst),
      .rx_i(rx),
      .rx_stamp_i(rx_stamp),
      .timer_o(timer),
      .clk_i(clk),
      .rst_i(rst),
      .time_i(now),
      .max_frame_i(14'd9600),
      .frame(got),
      .stamp(got_at),
      .count_o(count)
  );

  // ---------------------------------------------------------------- the hard block
  typedef struct packed {
    logic [511:0] data;
    logic [63:0]  keep;
    logic         last;
    logic         user;
  } beat_t;
  beat_t line[$];
  int unsigned whole = 0;  // frames in `line`
  int unsigned ready_percent = 100, gap_percent = 0;
  bit inside_tx = 0, inside_rx = 0, still = 0;
  typedef struct {
    ptp_time_t at;
    bit exact;  // as the block has said
  } start_t;
  start_t handshake[$];
  int answer_in = -1;  // clocks
  bit silent = 0;  // the block
  int unsigned answered = 0;
  logic [15:0] asked_tag;
  function automatic bit is_event(logic [511:0] data);
    return data[8*12+:16] == 16'hf788 && data[8*14+:4] < 4;
  endfunction
  // When the frame began on the line; noise before, under another tag.
  always @(negedge tx_clk) begin
    tx_stamp_valid = 0;
    tx_stamp = {$urandom(), $urandom(), 16'($urandom())};
    tx_stamp_tag = asked_tag + 16'($urandom_range(1000, 1));
    if (answer_in > 0) tx_stamp_valid = $urandom_range(3) == 0;
    if (answer_in == 0 && !silent) begin
      tx_stamp_valid = 1;
      tx_stamp_tag   = asked_tag;
      handshake[$]   = '{at: tx_stamp[47:0], exact: 1'b1};
      answered++;
    end
    if (answer_in >= 0) answer_in--;
  end
  always @(posedge tx_clk) begin
    tready <= !mac_rst && $urandom_range(99) < ready_percent;
    if (!mac_rst) begin
      if (inside_tx || still) `CHECK(tx.tvalid, "a gap inside a frame, or an offer withdrawn")
      still = tx.tvalid && !tready;
      if (tx.tvalid && tready) begin
        `CHECK(tx.tkeep != 0 && (tx.tkeep & (tx.tkeep + 1'b1)) == 0, "holes in tkeep")
        `CHECK(tx.tlast || (&tx.tkeep && !tx.tuser),
               "a beat inside a frame is not full, or has tuser")
        if (!inside_tx) begin
          `CHECK((op == TxTwoStep) == is_event(tx.tdata),
                     "an event message is stamped, nothing else")
          `CHECK(answer_in < 0, "a frame began while a stamp was due")
          handshake.push_back('{at: now, exact: 1'b0});
          if (op == TxTwoStep) begin
            answer_in = $urandom_range(60);
            asked_tag = tag;
          end
        end else `CHECK(op == TxNoStamp, "asked for a stamp inside a frame")
        inside_tx = !tx.tlast;
        line.push_back('{data: tx.tdata, keep: tx.tkeep, last: tx.tlast, user: tx.tuser});
        if (tx.tlast) whole++;
      end
    end
  end
  ptp_time_t line_stamp[$];
  always @(posedge rx_clk) begin
    rx.tvalid <= 0;
    rx_stamp  <= {$urandom(), $urandom(), 16'($urandom())};
    if (whole != 0 && $urandom_range(99) >= gap_percent) begin
      beat_t beat;
      cmac_time_t stamp;
      beat  = line.pop_front();
      stamp = {$urandom(), $urandom(), 16'($urandom())};
      for (int i = 0; i < 64; i++) if (!beat.keep[i]) beat.data[8*i+:8] = 8'($urandom());
      rx <= '{
          tvalid: 1'b1,
          tdata: beat.data,
          tkeep: beat.keep,
          tlast: beat.last,
          tuser: beat.user
      };
      rx_stamp <= stamp;
      if (!inside_rx && !mac_rst) line_stamp.push_back(stamp[47:0]);
      inside_rx = !beat.last;
      if (beat.last) whole--;
    end
  end

  // The timer is the core's time, once it has found it.
  always @(posedge rx_clk) begin
    if ($time > 20_000 && !mac_rst && now > 3000)
      `CHECK(timer[79:48] == 0 && timer[47:0] + 20 > now && now + 20 > timer[47:0], $sformatf(
             "the timer is at %0d, the core at %0d", timer[47:0], now))
  end
  always @(posedge tx_clk) begin
    if ($time > 20_000 && !mac_rst && now > 3000)
      `CHECK(tx_timer[79:48] == 0 && tx_timer[47:0] + 20 > now && now + 20 > tx_timer[47:0],
             "the timer of the transmit side")
  end

  // ---------------------------------------------------------------- the core
  `FRAME_SOURCE(wide_beat_t, i_source, sent, 100, 100)
  bytes_t frames[$];
  bit bad[$];
  int unsigned frames_sent = 0, frames_got = 0, stamps_sent = 0, stamps_got = 0;
  int unsigned good = 0, spoilt = 0, other = 0, at = 0;
  `STREAM_SINK(ptp_time_t, i_sent_at, sent_at, 50)
  `STREAM_SINK(wide_beat_t, i_got, got, 100)
  `STREAM_SINK(ptp_time_t, i_got_at, got_at, 70)
  task automatic send(int unsigned size, bit err);
    bytes_t bytes;
    repeat (size) bytes.push_back(8'($urandom()));
    if (size > 14 && $urandom_range(7) == 0) begin
      {bytes[12], bytes[13]} = 16'h88f7;
      bytes[14][3:0] = 4'($urandom_range(5));
    end
    i_source.send(bytes, err);
    while (bytes.size() < MinFrame) bytes.push_back(0);
    frames.push_back(bytes);
    bad.push_back(err);
    frames_sent++;
    while (i_source.queue.size() > 4) @(posedge clk);
  endtask
  always @(posedge clk) begin
    if (!rst && sent_at.valid && sent_at.ready) begin
      start_t want;
      want = handshake.pop_front();
      `CHECK(
          $time < 20_000 || (want.exact ? sent_at.data == want.at : sent_at.data + 30 > want.at && want.at + 30 > sent_at.data),
          $sformatf("stamp %0d of a frame taken at %0d", sent_at.data, want.at))
      stamps_sent++;
    end
    if (!rst && got_at.valid && got_at.ready) begin
      `CHECK(line_stamp.size() != 0 && got_at.data == line_stamp.pop_front(),
             "not the stamp that the block took")
      stamps_got++;
    end
    if (!rst && got.valid && got.ready) begin
      `CHECK(frames.size() != 0 && got.data.sop == (at == 0),
             "a beat too many, or out of its frame")
      for (int unsigned i = 0; i < 32'(got.data.len); i++)
        `CHECK(got.data.data[8*i+:8] == frames[0][at+i], "wrong byte")
      at += 32'(got.data.len);
      if (got.data.eop) begin
        `CHECK(at == frames[0].size() && got.data.err == bad[0], "wrong length or err")
        at = 0;
        frames_got++;
        void'(frames.pop_front());
        void'(bad.pop_front());
      end
    end
    if (!rst) begin
      if (count.good) good++;
      if (count.bad_fcs) spoilt++;
      if (count.runt || count.oversize || count.fifo_full) other++;
    end
  end
  task automatic settle();
    for (
        int patience = 0;
        frames_got != frames_sent || stamps_sent != frames_sent || stamps_got != frames_sent;
        patience++
    ) begin
      @(posedge clk);
      `CHECK(patience < 20_000, $sformatf("%0d sent, %0d got", frames_sent, frames_got))
    end
    repeat (4) @(posedge clk);  // until they are counted
  endtask

  initial begin
    int unsigned start, aborted;
    aborted = 0;
    @(negedge rst);
    repeat (2500) @(posedge clk);
    for (int unsigned size = 1; size < 200; size++) send(size, 0);
    settle();
    // The longest frames at a block that takes a beat in each of its clocks.
    for (int n = 0; n < 20; n++) send(9500 + n, 0);
    settle();
    for (int round = 0; round < 20; round++) begin
      ready_percent = $urandom_range(100, 20);
      gap_percent = $urandom_range(80);
      rx_half = round[0] ? 3.8804 : 3.8796;
      for (int n = 0; n < 40; n++) begin
        bit err;
        err = $urandom_range(9) == 0;
        aborted += 32'(err);
        send($urandom_range(round[1] ? 1518 : 140, 14), err);
      end
      settle();
    end
    // 60-byte frames in each clock of the core: none is lost between two clocks nearly alike.
    {ready_percent, gap_percent} = {32'd100, 32'd0};
    start = good;
    for (int n = 0; n < 2000; n++) send(60, 0);
    settle();
    `CHECK(good - start == 2000, "a frame was lost")
    // A block that gives no stamps.
    silent = 1;
    for (int n = 0; n < 60; n++) send($urandom_range(400, 15), 0);
    settle();
    `CHECK(answered > 100, "hardly a frame was an event message")
    `CHECK(spoilt == aborted && good + spoilt == frames_sent && other == 0, $sformatf(
           "%0d good, %0d bad, %0d else of %0d", good, spoilt, other, frames_sent))
    `TB_PASS
  end
endmodule

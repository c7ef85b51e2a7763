// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// xgmii_tx and xgmii_rx, and between them a line that the test looks at and can spoil: all lengths, both lanes of a start, the mean gap and
/// its least, line rate, FCS against one made bit by bit, Error characters, underruns; on receive wrong preambles, control characters inside,
/// runts, frames too long, wrong FCS, stamps; ordered sets and what the transmitter does then; resets in mid-frame.
module xgmii_tb
  import eth_pkg::*;
  import xgmii_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  `STREAM_ON(word_beat_t, in, clk, rst)
  logic [7:0] gap = 12;
  logic mac_rst = 1;
  xgmii_t tx, rx;
  link_fault_t fault, far_fault = '0;
  logic valid, sfd, sfd_late, sfd_control, tx_record_valid, rx_record_valid;
  word_beat_t word;
  ptp_time_t now = 0, stamp;
  mac_record_t tx_record, rx_record;
  logic [15:0] max_frame = 16'd9622;
  always @(posedge clk) now <= now + 6;

  int unsigned start_percent = 100, inside_percent = 100;
  `FRAME_SOURCE(word_beat_t, i_source, in, start_percent, inside_percent)
  xgmii_tx i_tx (
      .clk_i(clk),
      .rst_i(rst || mac_rst),
      .gap_i(gap),
      .fault_i(far_fault),
      .in,
      .control_i(1'b0),
      .pfc_i(1'b0),
      .tx_o(tx),
      .sfd_o(sfd),
      .sfd_late_o(sfd_late),
      .sfd_control_o(sfd_control),
      .record_valid_o(tx_record_valid),
      .record_o(tx_record)
  );
  xgmii_rx i_rx (
      .clk_i(clk),
      .rst_i(rst || mac_rst),
      .max_frame_i(max_frame),
      .rx_i(rx),
      .time_i(now),
      .valid_o(valid),
      .word_o(word),
      .time_o(stamp),
      .record_valid_o(rx_record_valid),
      .record_o(rx_record),
      .fault_o(fault)
  );

  // ---------------------------------------------------------------- the line, lane by lane, as the standard has it
  typedef struct {
    bytes_t bytes;
    bit bad;
  } frame_t;
  frame_t expected[$];  // on the line
  function automatic logic [31:0] fcs_of(bytes_t bytes, int unsigned size);
    logic [31:0] crc = '1;
    for (int unsigned i = 0; i < size; i++)
    for (int b = 0; b < 8; b++) crc = (crc >> 1) ^ (crc[0] ^ bytes[i][b] ? 32'hedb88320 : 32'd0);
    return ~crc;
  endfunction
  bytes_t got;
  bit opened = 0, errors = 0, looks = 1;
  int unsigned place = 0, idles = 0, frames_seen = 0, line_bytes = 0, late_starts = 0;
  int owed = 0;  // bytes by which gaps fell short of the mean
  ptp_time_t sent_at[$];
  task automatic lane(logic ctl, logic [7:0] data, int unsigned number);
    line_bytes++;
    if (!opened) begin
      if (ctl && data == Start) begin
        `CHECK(number % 4 == 0, "a Start in a wrong lane")
        `CHECK(idles >= 9, $sformatf("a gap of %0d bytes", idles))
        if (frames_seen != 0) begin
          owed += 32'(gap) - idles;
          if (owed < 0) owed = 0;
          `CHECK(owed <= 3, "gaps are too short in the mean")
        end
        if (number != 0) late_starts++;
        {opened, errors, place} = {1'b1, 1'b0, 32'd1};
        got = {};
      end else begin
        `CHECK(ctl && (data == Idle || (data == Terminate && idles == 0)), $sformatf(
               "between frames there is %b %h", ctl, data))
        idles++;
      end
    end else if (ctl && data == Terminate) begin
      frame_t want;
      opened = 0;
      idles  = 1;
      frames_seen++;
      `CHECK(expected.size() != 0, "a frame that nobody sent")
      want = expected.pop_front();
      `CHECK(errors == want.bad, "Error characters")
      if (!errors) begin
        `CHECK(got.size() == want.bytes.size() + 4, $sformatf("%0d bytes, not %0d", got.size(),
                                                              want.bytes.size() + 4))
        foreach (want.bytes[i]) `CHECK(got[i] == want.bytes[i], "a wrong byte")
        `CHECK({got[$], got[$-1], got[$-2], got[$-3]} == fcs_of(got, got.size() - 4), "a wrong FCS")
      end
    end else if (place < 8) begin
      `CHECK(!ctl && data == (place == 7 ? Sfd : Preamble), "a wrong preamble")
      place++;
    end else begin
      if (ctl) begin
        `CHECK(data == Error, "a control character in a frame")
        errors = 1;
      end
      if (got.size() == 0) sent_at.push_back(now + (number == 4 ? 3 : 0));
      got.push_back(data);
    end
  endtask
  // At the pins the stamp of the first byte is the clock it is there in.
  int unsigned sfds = 0;
  always @(posedge clk) begin
    if (!rst && !mac_rst && looks) begin
      bit began;
      began = opened && place == 8 && got.size() == 0;
      for (int unsigned i = 0; i < 8; i++) begin
        lane(tx.ctl[i], tx.data[8*i+:8], i);
        if (opened && got.size() == 1 && !began) began = 1;
      end
      `CHECK(sfd == (opened && got.size() inside {[1 : 8]} && got.size() == (sfd_late ? 4 : 8)),
             "SFD is told when it is not there")
      if (sfd) sfds++;
    end
  end

  // ---------------------------------------------------------------- sending
  int unsigned sent = 0, multicasts = 0, broadcasts = 0;  // the good ones
  function automatic bytes_t frame_of(int unsigned size, bit good);
    bytes_t bytes;
    int unsigned to_all;
    to_all = $urandom_range(3) == 0 ? $urandom_range(6, 1) :
        0;  // bytes of the address; with all of them it is a broadcast
    for (int unsigned i = 0; i < size; i++)
    bytes.push_back(
        i < to_all ? 8'hff : 8'($urandom()) & (i + 1 == 6 && to_all == 5 ? 8'hfe : 8'hff));
    if (good && size >= 6) begin
      if ({bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]} == '1) broadcasts++;
      else multicasts += 32'(bytes[0][0]);
    end
    return bytes;
  endfunction
  task automatic send(int unsigned size, bit err);
    bytes_t bytes;
    bytes = frame_of(size, !err);
    i_source.send(bytes, err);
    expected.push_back('{bytes: bytes, bad: err});
    if (loops) arrives.push_back('{bytes: bytes, bad: err});
    sent++;
    while (i_source.queue.size() > 2000) @(posedge clk);
  endtask

  // ---------------------------------------------------------------- the receive side: what is sent, or what the test plays
  bit loops = 1;
  xgmii_t line[$];
  xgmii_t played = IdleWord;
  assign rx = loops ? tx : played;
  always @(negedge clk) begin
    played = IdleWord;
    if (line.size() != 0) played = line.pop_front();
  end
  frame_t arrives[$];
  int unsigned arrived = 0, rx_bad = 0, at = 0;
  int unsigned hits[MacCounters], tx_hits[MacCounters];
  longint unsigned octets = 0, good_octets = 0;
  bit was_valid = 0, was_eop = 0;
  int unsigned records = 0;
  always @(posedge clk) begin
    if (!rst && !mac_rst) begin
      `CHECK(!was_valid || was_eop || valid, "a gap inside a frame")
      was_valid = valid;
      was_eop   = word.eop;
      if (valid) begin
        `CHECK(arrives.size() != 0 && word.sop == (at == 0), "a word too many, or out of its frame")
        `CHECK(word.len != 0 && word.len <= 8 && (word.eop || word.len == 8), "a word's length")
        if (word.sop && loops && arrives.size() != 0) begin
          `CHECK(stamp == sent_at[0], $sformatf("stamp %0d, not %0d", stamp, sent_at[0]))
          void'(sent_at.pop_front());
        end
        for (int unsigned i = 0; i < 32'(word.len); i++)
          `CHECK(arrives[0].bad || word.data[8*i+:8] == arrives[0].bytes[at+i],
                 "a wrong byte received")
        at += 32'(word.len);
        if (word.eop) begin
          `CHECK(word.err == arrives[0].bad, $sformatf("err is %b", word.err))
          `CHECK(word.err || at == arrives[0].bytes.size(),
                 $sformatf("%0d bytes received, not %0d", at, arrives[0].bytes.size()))
          if (word.err) rx_bad++;
          at = 0;
          arrived++;
          void'(arrives.pop_front());
        end
      end
      if (tx_record_valid)
        for (int i = 0; i < MacCounters; i++) tx_hits[i] += 32'(tx_record.hit[i]);
      if (rx_record_valid) begin
        records++;
        for (int i = 0; i < MacCounters; i++) hits[i] += 32'(rx_record.hit[i]);
        if (rx_record.hit[Octets]) octets += 64'(rx_record.bytes);
        if (rx_record.hit[GoodOctets]) good_octets += 64'(rx_record.bytes);
      end
    end
  end
  task automatic settle();
    for (
        int patience = 0;
        expected.size() != 0 || arrives.size() != 0 || line.size() != 0;
        patience++
    ) begin
      @(posedge clk);
      `CHECK(patience < 10_000, $sformatf(
             "%0d frames did not come out, %0d not in", expected.size(), arrives.size()))
    end
    repeat (20) @(posedge clk);
  endtask
  task automatic expect_hits(mac_counter_e which, int unsigned count);
    `CHECK(hits[which] == count, $sformatf("%s: %0d, not %0d", which.name(), hits[which], count))
    hits[which] = 0;
  endtask

  /// Plays a frame from that lane on: FCS made here, then what is to be spoilt.
  typedef struct {
    int unsigned lane_;
    int unsigned preamble;  // bytes with Start and SFD
    bit bad_fcs;
    int control;  // a control character in the place of that byte; -1: none
    logic [7:0] character;
  } play_t;
  task automatic play(int unsigned size, play_t how, bit comes, bit bad);
    bytes_t bytes, whole;
    bit ctl[$];
    xgmii_t w;
    logic [31:0] fcs;
    bytes = frame_of(size, comes && !bad);
    fcs   = fcs_of(bytes, size);
    if (how.bad_fcs) fcs[$urandom_range(31)] ^= 1'b1;

    for (int unsigned i = 0; i < how.lane_; i++) begin
      whole.push_back(Idle);
      ctl.push_back(1);
    end
    for (int unsigned i = 0; i < how.preamble; i++) begin
      whole.push_back(i == 0 ? Start : i == how.preamble - 1 ? Sfd : Preamble);
      ctl.push_back(i == 0);
    end
    for (int unsigned i = 0; i < size + 4; i++) begin
      whole.push_back(
          int'(i) == how.control ? how.character : i < size ? bytes[i] : fcs[8*(i-size)+:8]);
      ctl.push_back(int'(i) == how.control);
    end
    whole.push_back(Terminate);
    ctl.push_back(1);
    while (whole.size() % 8 != 0) begin
      whole.push_back(Idle);
      ctl.push_back(1);
    end
    if (comes) arrives.push_back('{bytes: bytes, bad: bad});
    for (int unsigned i = 0; i < whole.size(); i += 8) begin
      for (int unsigned k = 0; k < 8; k++) {w.ctl[k], w.data[8*k+:8]} = {ctl[i+k], whole[i+k]};
      line.push_back(w);
    end
    repeat (1 + $urandom_range(2)) line.push_back(IdleWord);
  endtask

  initial begin
    int unsigned start, n;
    longint unsigned took;
    @(negedge rst);
    repeat (20) @(posedge clk);
    mac_rst <= 0;
    repeat (5) @(posedge clk);
    // All lengths, often, one behind the other: rate and gap.
    foreach (hits[i]) hits[i] = 0;
    for (int round = 0; round < 3; round++)
    for (int unsigned size = 60; size < 200; size++) send(size, 0);
    settle();
    expect_hits(Good, 420);
    // Line rate at each length, to a gap of 12 in the mean.
    for (int unsigned size = 60; size < 70; size++) begin
      for (int k = 0; k < 700; k++) send(size, 0);
      start = line_bytes;
      n = frames_seen;
      wait (expected.size() < 10);
      took = line_bytes - start;
      `CHECK(n + 100 < frames_seen && took <= longint'(frames_seen - n) * (size + 24) + 16,
             $sformatf("%0d bytes for %0d frames of %0d", took, frames_seen - n, size))
      settle();
    end
    `CHECK(late_starts > 1000, "hardly a frame began in lane 4")
    // Pauses between frames, other gaps, aborted ones, the longest.
    foreach (hits[i]) {hits[i], tx_hits[i]} = '0;
    {multicasts, broadcasts} = '0;
    arrived = 0;
    rx_bad = 0;
    n = 0;
    for (int round = 0; round < 30; round++) begin
      start_percent = $urandom_range(100, 5);
      gap = 8'(4 * $urandom_range(20, 3));
      for (int k = 0; k < 30; k++) begin
        bit err;
        err = $urandom_range(9) == 0;
        n += 32'(err);
        send($urandom_range(round % 5 == 0 ? 9618 : 300, 64), err);
      end
      settle();
    end
    {gap, start_percent} = {8'd12, 32'd100};
    expect_hits(SymbolError, n);
    expect_hits(Good, 900 - n);
    expect_hits(Multicast, multicasts);
    expect_hits(Broadcast, broadcasts);
    `CHECK(tx_hits[Multicast] == multicasts && tx_hits[Broadcast] == broadcasts && broadcasts > 20,
           $sformatf("%0d and %0d groups", tx_hits[Multicast], tx_hits[Broadcast]))
    `CHECK(rx_bad == n && arrived == 900, "bad frames")
    `CHECK(sfds == sent && frames_seen == sent, $sformatf("%0d SFDs of %0d frames", sfds, sent))

    // A word that does not come in time: the frame ends with Error characters, the rest of it is dropped.
    inside_percent = 70;
    for (int k = 0; k < 60; k++) begin
      send(200, 1);
    end
    settle();
    `CHECK(tx_hits[Underrun] > 50 && tx_hits[Underrun] + tx_hits[SymbolError] == 60 + n, $sformatf(
           "%0d underruns", tx_hits[Underrun]))
    inside_percent = 100;
    // The line's receive side in fault: Remote Fault goes out, or Idle, and what is sent is lost.
    foreach (tx_hits[i]) tx_hits[i] = 0;
    loops = 0;
    looks = 0;
    for (int k = 1; k < 3; k++) begin
      far_fault = link_fault_t'(2'(k));
      repeat (4) @(posedge clk);
      send(100, 0);
      repeat (60) begin
        @(posedge clk);
        `CHECK(tx == (k == 1 ? RemoteFaultWord : IdleWord), "sent in spite of the fault")
      end
      far_fault = '0;
      repeat (4) @(posedge clk);
      void'(expected.pop_front());
    end
    `CHECK(tx_hits[FaultLost] == 2 && tx_hits[Good] == 0, "frames of a fault are counted")
    // Ordered sets: four in a row make one, 128 columns without end it; other lanes, others between.
    for (int k = 0; k < 200; k++) begin
      int unsigned sets, quiet;
      logic [7:0] kind;
      kind  = $urandom_range(1) != 0 ? LocalFault : RemoteFault;
      sets  = $urandom_range(6, 1);
      quiet = $urandom_range(62);
      for (int left = int'(sets) - 1; left >= 0; left--) begin
        xgmii_t w;
        w = IdleWord;
        if ($urandom_range(1) == 0) {w.ctl[3:0], w.data[31:0]} = {4'h1, kind, 16'h0, Sequence};
        else {w.ctl[7:4], w.data[63:32]} = {4'h1, kind, 16'h0, Sequence};
        line.push_back(w);
        if (left != 0) repeat (quiet) line.push_back(IdleWord);
      end
      while (line.size() != 0) @(posedge clk);
      repeat (6) @(posedge clk);
      `CHECK(
          fault == (sets < 4 ? link_fault_t'('0) : kind == LocalFault ? link_fault_t'(2'b01) : link_fault_t'(2'b10)),
          $sformatf("%0d sets of %0d, %0d words apart: %b", sets, kind, quiet, fault))
      // Of the other kind it takes four, too; till then it stays what it was.
      sets = sets < 4 ? 0 : $urandom_range(5);
      repeat (sets) begin
        line.push_back(IdleWord);
        line[$].ctl[3:0]   = 4'h1;
        line[$].data[31:0] = {kind ^ LocalFault ^ RemoteFault, 16'h0, Sequence};
      end
      while (line.size() != 0) @(posedge clk);
      repeat (6) @(posedge clk);
      if (sets != 0)
        `CHECK(
            fault == ((sets < 4) == (kind == LocalFault) ? link_fault_t'(2'b01) : link_fault_t'(2'b10)),
            $sformatf("%0d sets of the other kind than %0d: %b", sets, kind, fault))
      repeat (70) @(posedge clk);
      `CHECK(fault == '0, "a fault that has gone")
    end
    // Resets in mid-frame: what comes after is whole.
    for (int k = 0; k < 100; k++) begin
      loops = 0;
      looks = 0;
      repeat (20) send($urandom_range(300, 60), 0);
      repeat ($urandom_range(300, 1)) @(posedge clk);
      mac_rst <= 1;
      repeat ($urandom_range(9, 1)) @(posedge clk);
      mac_rst <= 0;
      while (i_source.queue.size() != 0 || in.valid) @(posedge clk);
      repeat (60) @(posedge clk);
      expected = {};
      arrives = {};
      sent_at = {};
      {opened, was_valid, at} = '0;
      {idles, frames_seen, owed} = {32'd100, 32'd0, 32'd0};
      loops = 1;
      looks = 1;
      repeat (3) send($urandom_range(300, 60), 0);
      settle();
    end

    // A reset of one clock at any time of a frame, or of a wrong start: nothing of it is told afterwards.
    loops = 0;
    looks = 0;
    for (int k = 0; k < 80; k++) begin
      play_t how;
      int unsigned told;
      how = '{
          lane_: 0,
          preamble: k % 2 == 0 ? 8 : 9,
          bad_fcs: 1'b0,
          control: -1,
          character: Error
      };
      play(60, how, k % 2 == 0, 0);
      repeat (k / 2 + 4) @(posedge clk);
      mac_rst <= 1;
      @(posedge clk);
      mac_rst <= 0;
      told = records;
      arrives = {};
      {was_valid, at} = '0;
      while (line.size() != 0) @(posedge clk);
      repeat (20) @(posedge clk);
      `CHECK(records == told, $sformatf(
             "a record of before a reset, %0d clocks after its frame began", k / 2 + 4))
    end
    // What comes from a line that is not well.
    foreach (hits[i]) hits[i] = 0;
    {octets, good_octets, multicasts, broadcasts} = '0;
    begin
      play_t how;
      longint unsigned all_octets, all_good;
      int unsigned good, short_, fragments, bad_fcs, symbols, starts, long_;
      {all_octets, all_good, good, short_, fragments, bad_fcs, symbols, starts, long_} = '0;
      max_frame = 16'd500;
      for (int k = 0; k < 4000; k++) begin
        int unsigned size, kind;
        kind = $urandom_range(9);
        size = $urandom_range(200, 60);
        how = '{
            lane_: 4 * $urandom_range(1),
            preamble: 8,
            bad_fcs: 1'b0,
            control: -1,
            character: Error
        };
        case (kind)
          0: begin
            how.bad_fcs = 1;
            bad_fcs++;
            play(size, how, 1, 1);
            all_octets += 64'(size) + 4;
          end
          1: begin
            size = $urandom_range(59, 4);
            short_++;
            play(size, how, 1, 1);
            all_octets += 64'(size) + 4;
          end
          2: begin
            size = $urandom_range(59, 4);
            how.bad_fcs = 1;
            fragments++;
            play(size, how, 1, 1);
            all_octets += 64'(size) + 4;
          end
          3: begin
            how.control   = $urandom_range(size + 3, 1);
            how.character = $urandom_range(1) == 0 ? Error : Idle;
            if (how.control < 64) fragments++;
            else symbols++;
            play(size, how, how.control > 4, 1);
            if (how.control >= 8) all_octets += 64'(how.control);
          end
          4: begin
            how.preamble = $urandom_range(12, 9);
            starts++;
            play(size, how, 0, 0);
          end
          5: begin
            size = $urandom_range(700, 505);
            long_++;
            play(size, how, 1, 1);
            all_octets += 504;
          end
          default: begin
            good++;
            play(size, how, 1, 0);
            all_octets += 64'(size) + 4;
            all_good += 64'(size) + 4;
          end
        endcase
        while (line.size() > 100) @(posedge clk);
      end
      settle();
      expect_hits(Good, good);
      expect_hits(Multicast, multicasts);
      expect_hits(Broadcast, broadcasts);
      expect_hits(Undersize, short_);
      expect_hits(Fragment, fragments);
      expect_hits(FcsError, bad_fcs);
      expect_hits(SymbolError, symbols);
      expect_hits(BadStart, starts);
      expect_hits(Oversize, long_);
      `CHECK(octets == all_octets && good_octets == all_good, $sformatf(
             "%0d octets of %0d, good %0d of %0d", octets, all_octets, good_octets, all_good))
    end
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_engine: each DMA request, frame byte, checksum command, record, commit, sent and stop against a model of what each
/// packet meets (1 to 8 segments at any address, packets that were pushed, bad descriptors, failed reads, bad lengths); one packet a clock.
module tx_engine_tb;
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam ram_sel_t Sel = 6'd6;
  localparam int MaxFrame = 2500;

  `STREAM_ON(desc_beat_t, desc, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  `STREAM_ON(wide_beat_t, frame, clk, rst)
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(record_t, record, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  `STREAM_ON(queue_error_t, stop, clk, rst)
  `STREAM_ON(queue_count_t, counted, clk, rst)
  dma_status_t status;
  ram_write_t ram;
  tx_csum_t csum;
  tx_engine_count_t count;
  logic [15:0] in_use;
  push_store_t push_line = '0;
  push_store_t lines[$];
  logic [PushEntries-1:0] push_release, free_entries = '1;
  int unsigned inlined_percent = 0, inlined = 0;
  tx_engine #(
      .RamBytes(32768),
      .Sel(Sel),
      .MaxPackets(512),
      .Vlan(1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_frame_i(14'(MaxFrame)),
      .desc,
      .dma,
      .status_i(status),
      .ram_i(ram),
      .push_i(push_line),
      .push_release_o(push_release),
      .frame,
      .csum_o(csum),
      .stamp,
      .record,
      .commit,
      .sent,
      .stop,
      .counted,
      .count_o(count),
      .units_o(in_use)
  );

  int unsigned
      to_send = 0,
      trouble = 0,
      ready_percent = 100,
      frame_percent = 100,
      min_len = 60,
      max_len = 60,
      now = 0;
  int unsigned dma_latency = 200, dma_jitter = 0, stamp_latency = 20, record_percent = 100;

  typedef struct {
    error_e code;
    int unsigned requests, len;
    queue_t queue, cq;
    tx_csum_t csum;
    bit [63:0] addr[$];
    int unsigned size[$];
  } packet_t;
  packet_t packets[$], frames[$], closing[$];
  dma_req_t want_dma[$];
  dma_result_e results[$];
  ptp_time_t frame_stamp[$];
  int unsigned offered = 0, beats_out = 0, good = 0, bad = 0, codes[16], dma_fails = 0;

  function automatic bit one_in(int unsigned n);
    return $urandom_range(n - 1) == 0;
  endfunction
  function automatic byte unsigned host(bit [63:0] addr);
    return 8'(addr ^ (addr >> 8) * 3 ^ (addr >> 16) * 7);
  endfunction

  /// That many bytes from an address on are in host memory.
  function automatic void put(bit [63:0] addr, int unsigned bytes);
    for (bit [63:0] at = addr & ~64'd15; at < addr + 64'(bytes); at += 16) begin
      logic [127:0] word;
      for (int i = 0; i < 16; i++) word[8*i+:8] = host(at + 64'(i));
      i_host.memory[at/16] = word;
    end
  endfunction

  function automatic error_e error_code(dma_result_e r);
    case (r)
      DmaUnsupported: return ErrUnsupported;
      DmaAborted: return ErrAborted;
      DmaPoisoned: return ErrPoisoned;
      DmaTimeout: return ErrTimeout;
      default: return ErrNone;
    endcase
  endfunction

  /// A packet that lies in an entry, its lines written just before; of no bytes now and then, which is an error.
  function automatic void make_inlined(packet_t p, desc_beat_t b);
    b.inlined = 1;
    b.last = 1;
    b.entry = push_entry_t'($urandom());
    while (!free_entries[b.entry]) b.entry++;
    free_entries[b.entry] = 0;
    b.desc.addr = one_in(3) ? '0 : {32'h12, $urandom()};
    b.desc.len = one_in(20) ? '0 : 16'($urandom_range(PushBytes, 1));
    b.desc.csum_enable = 1'($urandom());
    p.csum = command_of(b.desc, 1);
    p.len = 32'(b.desc.len);
    if (p.len == 0) p.code = ErrLength;
    p.addr.push_back(b.desc.addr);
    p.size.push_back(p.len);
    for (int unsigned l = 0; l <= (p.len + 15) / 64; l++) begin
      push_store_t s;
      s = '{valid: 1'b1, entry: b.entry, line: 2'(l), data: {16{$urandom()}}};
      for (int unsigned i = 0; i < 64; i++)
      if (64 * l + i >= 16) s.data[8*i+:8] = host(b.desc.addr + 64'(64 * l + i - 16));
      lines.push_back(s);
    end
    i_desc.queue.push_back(b);
    packets.push_back(p);
    offered++;
    inlined++;
  endfunction

  function automatic void make_packet();
    packet_t p;
    desc_beat_t b;
    int unsigned n, left, piece;
    p.code = ErrNone;
    p.queue = 16'($urandom());
    p.cq = p.queue + 16'd5;
    b = '0;
    b.queue = p.queue;
    b.cq = p.cq;
    if (trouble != 0 && one_in(20)) begin
      b.status = one_in(2) ? DeqEmpty : DeqStopped;  // leaves no trace
      i_desc.queue.push_back(b);
      return;
    end
    p.len = 0;
    p.requests = 0;
    if (lines.size() == 0 && free_entries != '0 && $urandom_range(99) < inlined_percent) begin
      make_inlined(p, b);
      return;
    end
    n = trouble != 0 ? $urandom_range(8, 1) : 1;
    left = $urandom_range(max_len, min_len);
    if (trouble != 0 && one_in(40)) left = 0;
    if (trouble != 0 && one_in(20)) left = $urandom_range(MaxFrame + 3, MaxFrame - 3);
    if (trouble != 0 && one_in(40)) left = $urandom_range(60000, MaxFrame + 1);
    for (int unsigned i = 0; i < n; i++) begin
      piece = i == n - 1 ? left : one_in(6) ? 0 : $urandom_range(left);
      left -= piece;
      b.last = i == n - 1;
      b.desc.addr = {32'h12, $urandom() | 32'd1};
      b.desc.len = 16'(piece);
      b.desc.csum_enable = 1'($urandom());
      b.desc.csum_start = 8'($urandom());
      b.desc.csum_offset = 8'($urandom());
      b.desc.vlan = one_in(3);
      {b.desc.service, b.desc.slot} = 17'($urandom());
      b.result = DmaOk;
      if (trouble != 0 && one_in(80)) b.desc.addr = 0;
      if (trouble != 0 && one_in(80)) b.result = dma_result_e'($urandom_range(4, 1));
      if (i == 0) p.csum = command_of(b.desc, 1);
      p.len += piece;
      if (p.code == ErrNone) begin
        if (b.result != DmaOk) p.code = error_code(b.result);
        else if (b.desc.addr == 0 && piece != 0) p.code = ErrNullAddress;
        else if (p.len > MaxFrame - (p.csum.vlan.valid ? 4 : 0) ||
                 (b.last && (p.len == 0 || (p.csum.vlan.valid && p.len < 12))))
          p.code = ErrLength;
        else if (piece != 0) begin
          want_dma.push_back('{host_addr: b.desc.addr, sel: Sel, ram_addr: '0, len: 16'(piece),
                             relaxed: 1'b1});
          put(b.desc.addr, piece);
          p.addr.push_back(b.desc.addr);
          p.size.push_back(piece);
          p.requests++;
        end
      end
      i_desc.queue.push_back(b);
    end
    packets.push_back(p);
    offered++;
  endfunction

  // A packet is ready once all its results are known: it comes out as a frame, or fails.
  function automatic void resolve();
    while (packets.size() != 0 && results.size() >= packets[0].requests) begin
      packet_t p;
      p = packets.pop_front();
      repeat (p.requests) begin
        dma_result_e r;
        r = results.pop_front();
        if (p.code == ErrNone) p.code = error_code(r);
      end
      if (p.code != ErrNone) i_stop.expected.push_back('{queue: p.queue, code: p.code});
      else frames.push_back(p);
      codes[4'(p.code)]++;
      closing.push_back(p);
    end
  endfunction

  // Records follow in the order of the packets, those of frames when their stamp is known.
  function automatic void close();
    while (closing.size() != 0 && (closing[0].code != ErrNone || frame_stamp.size() != 0)) begin
      packet_t p;
      cpl_t cpl;
      p = closing.pop_front();
      cpl = '0;
      cpl.error = p.code != ErrNone;
      if (p.code == ErrNone) cpl.timestamp = 40'(frame_stamp.pop_front());
      cpl.len   = p.len > 16383 ? 14'd16383 : 14'(p.len);
      cpl.queue = p.queue;
      i_record.expected.push_back('{cq: p.cq, record: cpl});
      i_commit.expected.push_back('{queue: p.queue, count: 1});
      i_sent.expected.push_back('{queue: p.queue, bytes: cpl.len});
      i_counted.expected.push_back('{queue: p.queue, packets: p.code == ErrNone ? 16'd1 : 16'd0,
                                   bytes: p.code == ErrNone ? 24'(p.len) : 24'd0,
                                   error: p.code != ErrNone, drop: 1'b0});
      if (p.code == ErrNone) good++;
      else bad++;
    end
  endfunction

  int unsigned got_good = 0, got_bad = 0, at = 0, seg = 0, seg_at = 0;
  `DMA_HOST_READ(i_host, Sel, dma, ready_percent, dma_latency, dma_jitter, trouble * 2)
  `STREAM_SOURCE(desc_beat_t, i_desc, desc, trouble == 0 ? 100 : 75)
  `STREAM_SINK(wide_beat_t, i_frame, frame, frame_percent)
  `STREAM_SOURCE(ptp_time_t, i_stamp, stamp, 100)
  `STREAM_CHECK(record_t, i_record, record, record_percent)
  `STREAM_CHECK(commit_t, i_commit, commit, ready_percent)
  `STREAM_CHECK(sent_t, i_sent, sent, ready_percent)
  `STREAM_CHECK(queue_count_t, i_counted, counted, ready_percent)
  `STREAM_CHECK(queue_error_t, i_stop, stop, ready_percent)
  always @(posedge clk) begin
    now++;
    push_line <= '0;
    if (lines.size() != 0) push_line <= lines.pop_front();
    if (!rst) begin
      `CHECK((push_release & free_entries) == '0, "an entry is given back twice")
      free_entries |= push_release;
    end
    if (dma.valid && dma.ready && !rst) begin
      dma_req_t want;
      `CHECK(want_dma.size() != 0, "a DMA request too many")
      want = want_dma.pop_front();
      want.ram_addr = dma.data.ram_addr;  // any place will do, the frames show whether it was a good one
      `CHECK(dma.data == want, $sformatf("DMA request %p, not %p", dma.data, want))
    end
    if (status.valid && status.sel == Sel && !rst) begin
      results.push_back(status.result);
      dma_fails += 32'(status.result != DmaOk);
    end
    resolve();

    if (frame.valid && frame.ready && !rst) begin
      wide_beat_t  b;
      int unsigned n;
      b = frame.data;
      beats_out++;
      `CHECK(frames.size() != 0, "a frame too many")
      n = frames[0].len - at > UnitBytes ? UnitBytes : frames[0].len - at;
      `CHECK(b.sop == (at == 0) && b.eop == (at + n == frames[0].len) && 32'(b.len) == n && !b.err,
             "wrong marks of a beat")
      `CHECK(csum == frames[0].csum, "wrong checksum command")
      for (int unsigned i = 0; i < n; i++) begin
        `CHECK(b.data[8*i+:8] == host(frames[0].addr[seg] + 64'(seg_at)), $sformatf(
               "wrong byte %0d", at + i))
        seg_at++;
        if (seg_at == frames[0].size[seg]) begin
          seg++;
          seg_at = 0;
        end
      end
      at += n;
      if (b.sop) i_stamp.send_in(ptp_time_t'({$urandom(), $urandom()}), stamp_latency);
      if (b.eop) begin
        at = 0;
        seg = 0;
        seg_at = 0;
        void'(frames.pop_front());
      end
    end
    if (!rst) begin
      got_good += 32'(count.sent);
      got_bad += 32'(count.error);
    end

    if (stamp.valid && stamp.ready && !rst) frame_stamp.push_back(stamp.data);
    close();
    if (i_desc.queue.size() == 0 && to_send != 0) begin
      make_packet();
      to_send--;
    end
  end

  task automatic settle();
    while (to_send != 0 || desc.valid || i_desc.queue.size() != 0) @(posedge clk);
    ready_percent  = 100;
    frame_percent  = 100;
    record_percent = 100;
    repeat (3000 + 2 * (dma_latency + dma_jitter)) @(posedge clk);
    `CHECK(packets.size() == 0 && frames.size() == 0 && closing.size() == 0 && want_dma.size() == 0,
           "a packet is stuck")
    `CHECK(
        i_record.expected.size() == 0 && i_commit.expected.size() == 0 && i_sent.expected.size() == 0 && i_stop.expected.size() == 0 && i_counted.expected.size() == 0,
        "a record, commit, sent, stop or count is missing")
    `CHECK(i_record.taken == offered && got_good == good && got_bad == bad, "packets miscounted")
    `CHECK(free_entries == '1, "an entry is not given back")
    `CHECK(in_use == '0, "the level says that nothing is held")
    `CHECK(32'(dut.free_q) == dut.Units && 32'(dut.may_fly_q) == dut.FlyUnits,
           $sformatf("of %0d units %0d are free, of %0d on their way %0d", dut.Units, dut.free_q,
                     dut.FlyUnits, dut.may_fly_q))
  endtask

  initial begin
    int unsigned start;
    @(negedge rst);
    // One 60-byte packet a clock with the host 200 clocks away.
    to_send = 3000;
    repeat (600) @(posedge clk);
    start = i_record.taken;
    repeat (2000) @(posedge clk);
    `CHECK(i_record.taken - start >= 1998, $sformatf(
           "%0d packets in 2000 clocks", i_record.taken - start))
    settle();
    // Long frames, as fast as they come (their lengths are whole beats here, so that every beat counts in full), and from a full
    // RAM: a beat a clock.
    min_len = 11 * UnitBytes;
    max_len = 11 * UnitBytes;
    dma_latency = 100;
    to_send = 400;
    repeat (600) @(posedge clk);
    start = beats_out;
    repeat (2000) @(posedge clk);
    `CHECK(beats_out - start >= 1000, $sformatf(
           "%0d beats of long frames in 2000 clocks", beats_out - start))
    frame_percent = 0;
    repeat (1000) @(posedge clk);
    `CHECK(32'(in_use) <= dut.Units && 32'(in_use) > dut.Units - 2 * 11,
           "the level says otherwise than that all is held")
    frame_percent = 100;
    repeat (2) @(posedge clk);
    start = beats_out;
    repeat (200) @(posedge clk);
    `CHECK(beats_out - start >= 199, $sformatf(
           "%0d beats of stored frames in 200 clocks", beats_out - start))
    settle();
    // Everything that can go wrong, with back-pressure.
    trouble = 1;
    min_len = 1;
    for (int round = 0; round < 24; round++) begin
      ready_percent = $urandom_range(100, 15);
      frame_percent = $urandom_range(100, 15);
      record_percent = $urandom_range(100, 5);
      max_len = round % 2 == 0 ? $urandom_range(MaxFrame, 60) : 100;
      dma_latency = $urandom_range(300, 1);
      dma_jitter = $urandom_range(1) * $urandom_range(200);
      stamp_latency = $urandom_range(300, 1);
      inlined_percent = round % 3 == 0 ? 40 : 0;
      to_send = 250;
      settle();
    end
    inlined_percent = 0;
    `CHECK(inlined > 80, "few packets were pushed")
    foreach (codes[i])
    if (i inside {ErrNone, ErrNullAddress, ErrUnsupported, ErrAborted, ErrPoisoned, ErrTimeout, ErrLength})
      `CHECK(codes[i] > 10, $sformatf("error %0d was seen only %0d times", i, codes[i]))
    `CHECK(dma_fails > 20, "no DMA failed")
    // Answers and frames pile up behind a wire that stands still.
    frame_percent = 0;
    max_len = 60;
    dma_latency = 600;
    to_send = 300;
    repeat (3000) @(posedge clk);
    frame_percent = 100;
    settle();
    `TB_PASS
  end
endmodule

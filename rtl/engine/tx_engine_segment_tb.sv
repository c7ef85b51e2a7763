// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_engine with segmentation: packets of up to 64 kB in gather lists, cut to frames, between packets that are not; reads that fail,
/// requests that cannot be met, frames too long. Each byte of each frame, record, commit, sent and stop. The MAC holds 14 time stamps, fewer than a packet
/// has segments.
module tx_engine_segment_tb;
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam ram_sel_t Sel = 6'd6;
  localparam int MaxFrame = 2500, Stamps = 14;

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
  logic [PushEntries-1:0] push_release;
  tx_engine #(
      .Sel(Sel),
      .Vlan(1),
      .Segment(1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_frame_i(14'(MaxFrame)),
      .desc,
      .dma,
      .status_i(status),
      .ram_i(ram),
      .push_i('0),
      .push_release_o(push_release),
      .frame,
      .csum_o(csum),
      .stamp,
      .record,
      .commit,
      .sent,
      .stop,
      .counted,
      .count_o(count)
  );

  typedef struct {
    error_e code;
    queue_t queue;
    int unsigned requests, total, frames, bytes;
    bit cut;
  } packet_t;
  typedef struct {
    bytes_t   bytes;
    tx_csum_t csum;
  } want_t;
  packet_t packets[$], closing[$];
  want_t made[$], want[$];  // of packets not resolved, of those that leave
  dma_result_e results[$];
  error_e stops[int unsigned];
  ptp_time_t stamps[$];
  int unsigned
      to_send = 0, fails = 0, ready_percent = 100, frame_percent = 100, record_percent = 100;
  int unsigned latency = 200, jitter = 0, stamp_latency = 20, held = 0, at = 0, offered = 0;
  int unsigned frames_out = 0, told_sent = 0, told_error = 0, bad = 0, cuts = 0, codes[16];
  longint unsigned place = 64'h1_0000_0001;

  function automatic bit one_in(int unsigned n);
    return $urandom_range(n - 1) == 0;
  endfunction
  function automatic void put(ref bytes_t f, input int unsigned at, input int unsigned bytes,
                              input logic [31:0] value);
    for (int unsigned i = 0; i < bytes; i++) f[at+i] = 8'(value >> (8 * (bytes - 1 - i)));
  endfunction

  /// Puts a packet into memory, in pieces, and its descriptors into the queue. What goes beyond `longest` is not read.
  function automatic void place_packet(bytes_t f, desc_t head, inout packet_t p,
                                       input int unsigned longest = 65535);
    desc_beat_t b = '0;
    int unsigned pieces = $urandom_range(8, 1), from = 0, size;
    b.queue = p.queue;
    b.cq = p.queue + 16'd5;
    for (int unsigned n = 0; n < pieces; n++) begin
      size = n == pieces - 1 ? f.size() - from : one_in(6) ? 0 : $urandom_range(f.size() - from);
      b.desc = n == 0 ? head : desc_t'({$urandom(), $urandom(), $urandom(), $urandom()});
      b.desc.inlined = 0;
      b.desc.addr = place;
      b.desc.len = 16'(size);
      b.last = n == pieces - 1;
      for (int unsigned i = 0; i < size; i++) begin
        longint unsigned word = (place + 64'(i)) >> 4;
        if (!i_host.memory.exists(word)) i_host.memory[word] = '0;
        i_host.memory[word][8*((place+64'(i))&64'd15)+:8] = f[from+i];
      end
      place += 64'(size) + 64'($urandom_range(40, 16));
      from += size;
      p.requests += 32'(size != 0 && from <= longest);
      i_desc.queue.push_back(b);
    end
    p.total = f.size();
    packets.push_back(p);
    offered++;
  endfunction

  function automatic void make();
    packet_t p = '{
        code: ErrNone,
        queue: 16'(offered),
        requests: 0,
        total: 0,
        frames: 1,
        bytes: 0,
        cut: 0
    };
    desc_t head = '0;
    bytes_t f, g;
    want_t w;
    int unsigned mss, payload, bytes, tcp, n;
    bit v4 = one_in(2);
    {head.vlan, head.service, head.slot} = 18'($urandom());
    head.csum_start = 8'($urandom());
    head.csum_offset = 8'($urandom());
    head.csum_enable = 1'($urandom());
    if (one_in(3)) begin
      w.csum = command_of(head, 1);
      n = MaxFrame - (w.csum.vlan.valid ? 4 : 0);
      if (one_in(8)) p.code = ErrLength;
      repeat (p.code == ErrLength ? $urandom_range(
          one_in(2) ? 40000 : 20000, n + 1
      ) : $urandom_range(
          1500, 60
      ))
      f.push_back(8'($urandom()));
      w.bytes = f;
      made.push_back(w);
      place_packet(f, head, p, n);
      return;
    end
    mss = one_in(2) ? 1448 : one_in(3) ? $urandom_range(40, 1) : $urandom_range(2380, 100);
    payload = mss > 40 && one_in(6) ? 65461 : $urandom_range(mss < 41 ? 300 : 20000, 1);
    tcp = v4 ? 34 : 54;
    bytes = tcp + 20;
    repeat (bytes + payload) f.push_back(8'($urandom()));
    put(f, 12, 2, v4 ? 32'h0800 : 32'h86dd);
    f[14] = v4 ? 8'h45 : 8'h60;
    if (v4) put(f, 20, 2, 32'h4000);
    f[v4?23 : 20] = 8'd6;
    f[tcp+12] = 8'h50;
    if (one_in(10)) begin  // no TCP, or frames too long
      if (one_in(2)) f[v4?23 : 20] = 8'd17;
      else mss = MaxFrame;
      p.code = ErrSegments;
    end
    p.cut = 1;
    head.cut = 1;
    head.csum_start = 8'(tcp);
    {head.mss_high, head.csum_offset} = 14'(mss);
    if (f.size() > 65535) while (f.size() > 65535) f.pop_back();
    payload  = f.size() - bytes;
    p.frames = 0;
    for (int unsigned from = 0; from < payload && p.code == ErrNone; from += mss) begin
      n = payload - from < mss ? payload - from : mss;
      g = f[0:bytes-1];
      for (int unsigned i = 0; i < n; i++) g.push_back(f[bytes+from+i]);
      if (v4) begin
        put(g, 16, 2, g.size() - 14);
        put(g, 18, 2, {16'd0, f[18], f[19]} + p.frames);
        put(g, 24, 2, 0);
        put(g, 24, 2, 32'(~sum_of(g, 14, 34)));
      end else put(g, 18, 2, g.size() - 54);
      put(g, tcp + 4, 4, {f[tcp+4], f[tcp+5], f[tcp+6], f[tcp+7]} + from);
      if (from != 0) g[tcp+13] &= 8'h7f;
      if (from + n < payload) g[tcp+13] &= 8'hf6;
      begin
        int unsigned sum = {16'd0, f[tcp+16], f[tcp+17]} + g.size() - tcp;
        put(g, tcp + 16, 2, sum > 'hffff ? sum - 'hffff : sum);
      end
      w.bytes = g;
      w.csum = command_of(head, 1);
      w.csum.enable = 1;
      w.csum.offset = 8'd16;
      made.push_back(w);
      p.frames++;
    end
    cuts++;
    place_packet(f, head, p);
  endfunction

  // What becomes of a packet is known with its last read.
  function automatic void resolve();
    while (packets.size() != 0 && results.size() >= packets[0].requests) begin
      packet_t p = packets.pop_front();
      error_e  failed = ErrNone;
      repeat (p.requests) begin
        dma_result_e r = results.pop_front();
        if (failed == ErrNone) failed = error_of(r);
      end
      if (failed != ErrNone && p.code != ErrLength) p.code = failed;
      repeat (p.frames) begin
        want_t w = made.pop_front();
        if (p.code == ErrNone) want.push_back(w);
        p.bytes += w.bytes.size();
      end
      if (p.code != ErrNone) begin
        stops[32'(p.queue)] = p.code;
        bad++;
      end
      codes[4'(p.code)]++;
      closing.push_back(p);
    end
  endfunction

  // Records follow in order, each with the last stamp of its packet's.
  function automatic void close();
    while (closing.size() != 0 && (closing[0].code != ErrNone || stamps.size() >= closing[0].frames)) begin
      packet_t p = closing.pop_front();
      cpl_t cpl = '0;
      cpl.error = p.code != ErrNone;
      if (!cpl.error) begin
        repeat (p.frames) cpl.timestamp = 40'(stamps.pop_front());
        if (p.cut) cpl.hash = p.frames;
      end
      cpl.len   = p.code == ErrLength && p.total > 16383 ? '1 : 14'(p.total);
      cpl.queue = p.queue;
      i_record.expected.push_back('{cq: p.queue + 16'd5, record: cpl});
      i_commit.expected.push_back('{queue: p.queue, count: 1});
      i_sent.expected.push_back('{queue: p.queue, bytes: cpl.len});
      i_counted.expected.push_back('{queue: p.queue,
                                   packets: p.code == ErrNone ? 16'(p.frames) : 16'd0,
                                   bytes: p.code == ErrNone ? 24'(p.bytes) : 24'd0,
                                   error: p.code != ErrNone, drop: 1'b0});
    end
  endfunction

  `DMA_HOST_READ(i_host, Sel, dma, ready_percent, latency, jitter, fails)
  `STREAM_SOURCE(desc_beat_t, i_desc, desc, 80)
  `STREAM_SINK(wide_beat_t, i_frame, frame, held < Stamps ? frame_percent : 0)
  `STREAM_SOURCE(ptp_time_t, i_stamp, stamp, 100)
  `STREAM_CHECK(record_t, i_record, record, record_percent)
  `STREAM_CHECK(commit_t, i_commit, commit, ready_percent)
  `STREAM_CHECK(sent_t, i_sent, sent, ready_percent)
  `STREAM_CHECK(queue_count_t, i_counted, counted, ready_percent)
  `STREAM_SINK(queue_error_t, i_stop, stop, ready_percent)
  always @(posedge clk) begin
    if (status.valid && status.sel == Sel && !rst) results.push_back(status.result);
    resolve();
    if (frame.valid && frame.ready && !rst) begin
      automatic wide_beat_t  b = frame.data;
      automatic int unsigned n;
      `CHECK(want.size() != 0, "a frame too many")
      n = want[0].bytes.size() - at > UnitBytes ? UnitBytes : want[0].bytes.size() - at;
      `CHECK(
          b.sop == (at == 0) && b.eop == (at + n == want[0].bytes.size()) && 32'(b.len) == n && !b.err,
          "wrong marks of a beat")
      `CHECK(csum == want[0].csum, "wrong command")
      for (int unsigned i = 0; i < n; i++)
        `CHECK(b.data[8*i+:8] == want[0].bytes[at+i], $sformatf("wrong byte %0d", at + i))
      at += n;
      if (b.sop) begin
        i_stamp.send_in(ptp_time_t'({$urandom(), $urandom()}), stamp_latency);
        held++;
      end
      if (b.eop) begin
        at = 0;
        frames_out++;
        void'(want.pop_front());
      end
    end
    if (stamp.valid && stamp.ready && !rst) begin
      stamps.push_back(stamp.data);
      held--;
    end
    close();
    if (stop.valid && stop.ready && !rst) begin
      `CHECK(stops.exists(32'(stop.data.queue)) && stops[32'(stop.data.queue)] == stop.data.code,
                 "a stop too many, or for another reason")
      stops.delete(32'(stop.data.queue));
    end
    if (!rst) begin
      told_sent += 32'(count.sent);
      told_error += 32'(count.error);
    end
    if (i_desc.queue.size() == 0 && to_send != 0) begin
      make();
      to_send--;
    end
  end

  task automatic settle();
    int unsigned patience = 200_000;
    while (patience != 0 && (to_send != 0 || packets.size() != 0 || closing.size() != 0 || i_desc.queue.size() != 0 || desc.valid)) begin
      @(posedge clk);
      patience--;
    end
    {ready_percent, frame_percent, record_percent} = {3{32'd100}};
    repeat (600) @(posedge clk);
    `CHECK(patience != 0 && want.size() == 0 && closing.size() == 0 && stops.size() == 0,
           "a packet is stuck")
    `CHECK(
        i_record.expected.size() == 0 && i_commit.expected.size() == 0 && i_sent.expected.size() == 0 && i_counted.expected.size() == 0,
        "a record, commit, sent or count is missing")
    `CHECK(told_sent == frames_out && told_error == bad, "miscounted")
    `CHECK(32'(dut.free_q) == dut.Units && 32'(dut.may_fly_q) == dut.FlyUnits, "units are lost")
  endtask

  initial begin
    @(negedge rst);
    for (int round = 0; round < 16; round++) begin
      ready_percent = round < 2 ? 100 : $urandom_range(100, 30);
      frame_percent = round < 2 ? 100 : $urandom_range(100, 30);
      record_percent = $urandom_range(100, 20);
      latency = $urandom_range(300, 1);
      jitter = $urandom_range(1) * 200;
      stamp_latency = $urandom_range(200, 1);
      fails = round < 2 ? 0 : 2;
      to_send = 25;
      settle();
    end
    `CHECK(cuts > 150 && codes[ErrSegments] > 8 && codes[ErrLength] > 5 && codes[ErrTimeout] > 1,
           "too few of a kind")
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_engine: each DMA request, record, commit, stop, free and count, of a queue too, against a model of what each frame meets
/// (descriptor lists of 1 to 8, the first of them a buffer for headers, places in streams, empty and stopped queues, null addresses, failed reads and writes); aggregates of several frames among them; one frame a clock.
module rx_engine_tb;
  import dma_pkg::*, queue_pkg::*, engine_pkg::*, eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam ram_sel_t Sel = 6'd3;

  `STREAM_ON(rx_meta_t, meta, clk, rst)
  `STREAM_ON(deq_req_t, req, clk, rst)
  `STREAM_ON(desc_beat_t, desc, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  `STREAM_ON(rx_piece_t, part, clk, rst)
  `STREAM_ON(record_t, record, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(queue_error_t, stop, clk, rst)
  `STREAM_ON(queue_count_t, counted, clk, rst)
  rx_free_t free;
  rx_slotless_t slotless;
  logic moved;
  dma_status_t status;
  rx_engine_count_t count;
  rx_engine #(
      .Sel(Sel),
      .Split(1),
      .Coalesce(1),
      .MaxFrames(256)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .meta,
      .free_o(free),
      .slotless_o(slotless),
      .req,
      .desc,
      .dma,
      .status_i(status),
      .part,
      .moved_i(moved),
      .record,
      .commit,
      .stop,
      .counted,
      .count_o(count)
  );

  int unsigned
      to_send = 0,
      sent = 0,
      trouble = 0,
      ready_percent = 100,
      record_percent = 100,
      max_len = 60,
      now = 0,
      dma_fails = 0;
  bit records = 0, splits = 0;
  int unsigned desc_latency = 200, dma_latency = 20;
  ram_addr_t next_addr = 0;

  // The model: what each frame must do, decided when the engine asks for its slot.
  typedef struct {
    rx_engine_count_t fate;
    error_e code;
    int unsigned requests;
    rx_meta_t meta;
    queue_t cq;
    bit stream;
    bit packs;
    bit split;
    header_words_t header;
    logic [63:0] start;  // of the descriptor where it ends,
    logic [63:0] addr;  // behind it,
    int unsigned room;  // as far as its descriptor goes
  } frame_t;
  typedef struct {
    int unsigned due;
    dma_status_t status;
  } answer_t;
  rx_meta_t metas[$];
  frame_t frames[$];
  answer_t answers[$];
  frame_t aggregates[Aggregates];  // the first frame, and what is left
  error_e broken[Aggregates];
  bit open[Aggregates];
  bit joins = 0;
  int unsigned followers = 0, cut_followers = 0, closed = 0, broken_ones = 0;
  aggregate_t slotless_due[$];
  int unsigned slotless_ones = 0, beyond = 0;
  dma_result_e results[$];
  dma_req_t want_dma[$];
  int unsigned want_free[$];
  int unsigned split_frames = 0, whole_frames = 0, long_headers = 0;
  int unsigned want_count[6], got_count[6], asked = 0, streamed = 0, packed_frames = 0;
  int unsigned moves_due[$], moves = 0;  // moves: that no frame has used

  function automatic bit one_in(int unsigned n);
    return $urandom_range(n - 1) == 0;
  endfunction

  function automatic int unsigned rows(rx_meta_t m);
    return ((m.recorded ? (32'(m.len) + 3) / 4 * 4 + 16 : 32'(m.len)) + UnitBytes - 1) / UnitBytes;
  endfunction

  function automatic void decide(rx_meta_t m);
    frame_t f;
    int unsigned n, room, at;
    desc_beat_t b;
    f.meta = m;
    f.cq = 16'(m.queue * 3);
    f.code = ErrNone;
    f.requests = 0;
    f.fate = '0;
    f.stream = 0;
    f.packs = 0;
    f.split = 0;
    f.header = '0;
    f.start = '0;
    f.addr = '0;
    f.room = 0;
    b = '0;
    b.queue = m.queue;
    b.cq = f.cq;
    b.status = DeqOk;
    b.result = DmaOk;
    if (trouble != 0 && one_in(10)) begin
      b.status = one_in(2) ? DeqEmpty : DeqStopped;
      if (b.status == DeqEmpty) f.fate.no_descriptor = 1;
      else f.fate.queue_stopped = 1;
      b.last = 1'($urandom());
      i_desc.send_in(b, desc_latency);
    end else if (m.recorded && one_in(2)) begin
      f.stream = 1;
      b.stream = 1;
      b.last = 1;
      b.desc.addr = trouble != 0 && one_in(20) ?
          64'($urandom() & 32'h7fff0) : {16'h1, 16'(m.queue), 32'($urandom())} & ~64'd15;
      if (b.desc.addr[63:19] == 0) begin
        f.code = ErrNullAddress;
        f.fate.descriptor_error = 1;
      end else begin
        f.fate.delivered = 1;
        room = (32'(m.len) + 3) / 4 * 4;
        f.packs = room + 16 <= UnitBytes;
        if (f.packs) begin
          i_part.expected.push_back('{queue: m.queue, place: b.desc.addr[63:4],
                                    row: m.addr[RamAddrW-1:UnitLaneW], dws: 6'(room / 4 + 4)});
          packed_frames++;
        end else begin
          f.requests = 1;
          want_dma.push_back('{host_addr: b.desc.addr - 64'(room), sel: Sel, ram_addr: m.addr,
                             len: 16'(room + 16), relaxed: 1'b0});
        end
        streamed++;
      end
      i_desc.send_in(b, desc_latency);
    end else begin
      n = trouble != 0 ? $urandom_range(8, 1) : splits ? 2 : 1;
      at = 0;
      b.desc.headers = splits || (trouble != 0 && one_in(2));
      f.split = b.desc.headers && n > 1;
      for (int unsigned i = 0; i < n; i++) begin
        b.last = i == n - 1;
        // Of a function of a device with several, some at the end of its memory: what lies behind the first frame stays its own.
        b.desc.addr = one_in(3) ? pcie_pkg::owned(8'(m.queue), {12'd0, {42{1'b1}}, 10'($urandom())})
            : {16'h1, 16'(m.queue), 32'($urandom())};
        b.desc.len = trouble == 0 ? 16'd2048 : one_in(12) ? 16'd0 : 16'($urandom_range(700, 1));
        b.result = DmaOk;
        if (trouble != 0 && one_in(40)) b.desc.addr = 0;
        if (trouble != 0 && one_in(40)) b.result = dma_result_e'($urandom_range(4, 1));
        if (f.code == ErrNone) begin
          if (b.result == DmaUnsupported) f.code = ErrUnsupported;
          else if (b.result == DmaAborted) f.code = ErrAborted;
          else if (b.result == DmaPoisoned) f.code = ErrPoisoned;
          else if (b.result == DmaTimeout) f.code = ErrTimeout;
          else if (b.desc.addr == 0 && b.desc.len != 0) f.code = ErrNullAddress;
        end
        if (splits && i == 0) b.desc.len = 16'd128;
        if (i != 0) b.desc.headers = one_in(2);  // means nothing there
        if (f.split && i == 0) begin
          if (m.info.header == 0 || 14 + 4 * 32'(m.info.header) > 32'(m.len)) whole_frames++;
          else if (14 + 4 * 32'(m.info.header) > 32'(b.desc.len)) long_headers++;
          else if (f.code == ErrNone) begin
            room = 14 + 4 * 32'(m.info.header);
            want_dma.push_back('{host_addr: b.desc.addr, sel: Sel, ram_addr: m.addr,
                               len: 16'(room), relaxed: 1'b1});
            f.requests++;
            f.header = m.info.header;
            at = room;
            split_frames++;
          end
        end else if (f.code == ErrNone) begin
          room = 32'(m.len) - at;
          if (32'(b.desc.len) < room) room = 32'(b.desc.len);
          if (room != 0) begin
            want_dma.push_back('{host_addr: b.desc.addr, sel: Sel, ram_addr: m.addr + 20'(at),
                               len: 16'(room), relaxed: 1'b1});
            f.requests++;
            at += room;
            if (at == 32'(m.len)) begin
              f.start = b.desc.addr;
              f.addr  = b.desc.addr + 64'(room);
              f.room  = 32'(b.desc.len) - room;
            end
          end
        end
        i_desc.send_in(b, desc_latency);
      end
      if (f.code != ErrNone) f.fate.descriptor_error = 1;
      else if (at != 32'(m.len)) f.fate.truncated = 1;
      else f.fate.delivered = 1;
    end
    if (!f.fate.delivered) f.room = 0;
    if (m.join_as == Opens) aggregates[m.aggregate] = f;
    if (m.join_as == Opens && (f.fate.no_descriptor || f.fate.queue_stopped))
      slotless_due.push_back(m.aggregate);
    frames.push_back(f);
  endfunction

  /// Frames that need no slot, and what closes their aggregates.
  function automatic void follow();
    while (metas.size() != 0 && metas[0].join_as inside {Follows, Closes}) begin
      frame_t   f;
      rx_meta_t m;
      int unsigned header, piece;
      m = metas.pop_front();
      f = aggregates[m.aggregate];
      f.meta = m;
      f.meta.queue = aggregates[m.aggregate].meta.queue;
      f.requests = 0;
      if (m.join_as == Follows) begin
        header = 14 + 4 * 32'(m.info.header);
        piece  = 32'(m.len) - header;
        if (piece > f.room) begin
          piece = f.room;
          if (f.fate.delivered) begin
            f.fate = '0;
            f.fate.truncated = 1;
            cut_followers++;
          end
        end
        if (piece != 0) begin
          want_dma.push_back('{host_addr: f.addr, sel: Sel, ram_addr: m.addr + 20'(header),
                             len: 16'(piece), relaxed: 1'b1});
          f.requests = 1;
        end
        if (piece != 0) begin
          `CHECK(pcie_pkg::function_of(f.addr) == pcie_pkg::function_of(f.start),
                     "payload for another function's memory")
          beyond += 32'(f.addr[52]);
        end
        f.addr += 64'(piece);
        f.room = f.fate.delivered ? f.room - piece : 0;
        aggregates[m.aggregate] = f;
        followers++;
      end else closed++;
      asked++;
      frames.push_back(f);
    end
  endfunction

  // A frame is finished once all its results are known.
  function automatic void resolve();
    while (frames.size() != 0 && results.size() >= frames[0].requests && (!frames[0].packs || moves != 0)) begin
      frame_t f;
      error_e code;
      cpl_t cpl;
      int at;
      f = frames.pop_front();
      code = f.code;
      at = 32'(f.meta.aggregate);
      if (f.meta.join_as inside {Follows, Closes} && broken[at] != ErrNone) begin
        code = broken[at];
        if (!f.fate.descriptor_error) begin
          f.fate = '0;
          f.fate.dma_error = 1;
          broken_ones++;
        end
      end
      moves -= 32'(f.packs);
      for (int unsigned i = 0; i < f.requests; i++) begin
        dma_result_e r;
        r = results.pop_front();
        if (r != DmaOk && !f.fate.descriptor_error) begin
          f.fate = '0;
          f.fate.dma_error = 1;
        end
        if (code == ErrNone && r != DmaOk) code = r == DmaTimeout ? ErrTimeout : ErrUnsupported;
      end
      if (f.meta.join_as != Alone) broken[at] = code;
      if (f.meta.join_as != Closes) begin
        want_free.push_back(rows(f.meta));
        for (int i = 0; i < 6; i++) want_count[i] += 32'(f.fate[i]);
        i_counted.expected.push_back(
            '{queue: f.meta.queue, packets: 16'(f.fate.delivered),
            bytes: f.fate.delivered ? 24'(f.meta.len) : 24'd0,
            error: |{f.fate.descriptor_error, f.fate.dma_error, f.fate.truncated},
            drop: f.fate.no_descriptor || f.fate.queue_stopped});
      end
      if (!f.fate.no_descriptor && !f.fate.queue_stopped && f.meta.join_as inside {Alone, Closes}) begin
        cpl = '{
            timestamp: f.meta.info.stamp[39:0],
            flags: {f.meta.info.stripped, 2'd0, f.meta.info.hash_type},
            csum: f.meta.info.csum,
            hash: f.meta.info.hash,
            phase: 0,
            error: !f.fate.delivered,
            len: f.meta.len,
            queue: f.meta.queue
        };
        if (f.split) cpl.timestamp = {f.header, f.meta.info.stamp[34:0]};
        if (!f.stream) i_record.expected.push_back('{cq: f.cq, record: cpl});
        i_commit.expected.push_back('{queue: f.meta.queue, count: 1});
        if (code != ErrNone) i_stop.expected.push_back('{queue: f.meta.queue, code: code});
      end
    end
  endfunction

  `STREAM_SOURCE(rx_meta_t, i_meta, meta, trouble == 0 ? 100 : 75)
  `STREAM_SINK(deq_req_t, i_req, req, ready_percent)
  `STREAM_SOURCE(desc_beat_t, i_desc, desc, 100)
  `STREAM_SINK(dma_req_t, i_dma, dma, ready_percent)
  `STREAM_CHECK(rx_piece_t, i_part, part, ready_percent)
  `STREAM_CHECK(record_t, i_record, record, ready_percent * record_percent / 100)
  `STREAM_CHECK(commit_t, i_commit, commit, ready_percent)
  `STREAM_CHECK(queue_error_t, i_stop, stop, ready_percent)
  `STREAM_CHECK(queue_count_t, i_counted, counted, ready_percent)
  always @(posedge clk) begin
    now++;
    if (req.valid && req.ready && !rst) begin
      `CHECK(
          metas.size() != 0 && req.data.queue == metas[0].queue && req.data.max == 1 && 32'(req.data.granules) == (metas[0].recorded ? (32'(metas[0].len) + 31) / 16 : 0),
          "wrong request for a slot")
      decide(metas.pop_front());
      asked++;
    end
    follow();
    if (dma.valid && dma.ready && !rst) begin
      dma_status_t s;
      `CHECK(want_dma.size() != 0, "a DMA request too many")
      `CHECK(dma.data == want_dma[0], $sformatf("DMA request %h %h %0d, not %h %h %0d",
                                                dma.data.host_addr, dma.data.ram_addr,
                                                dma.data.len, want_dma[0].host_addr,
                                                want_dma[0].ram_addr, want_dma[0].len))
      void'(want_dma.pop_front());
      s = '{1'b1, Sel, DmaOk};
      if (trouble != 0 && one_in(50)) s.result = one_in(2) ? DmaTimeout : DmaUnsupported;
      if (s.result != DmaOk) dma_fails++;
      answers.push_back('{now + dma_latency, s});
    end
    if (slotless.valid && !rst) begin
      `CHECK(slotless_due.size() != 0 && slotless.aggregate == slotless_due.pop_front(),
             "wrong aggregate without a slot")
      slotless_ones++;
    end
    if (free.valid && !rst)
      `CHECK(want_free.size() != 0 && 32'(free.count) == want_free.pop_front(), "wrong free")
    if (!rst) for (int i = 0; i < 6; i++) got_count[i] += 32'(count[i]);

    // Stimuli.
    if (part.valid && part.ready && !rst) moves_due.push_back(now + dma_latency / 2);
    moved <= 0;
    if (moves_due.size() != 0 && moves_due[0] <= now) begin
      moved <= 1;
      moves++;
      void'(moves_due.pop_front());
    end
    status <= '0;
    if (answers.size() != 0 && answers[0].due <= now) begin
      status <= answers[0].status;
      results.push_back(answers[0].status.result);
      void'(answers.pop_front());
    end else if (one_in(3)) begin
      status <= '{1'b1, Sel + 6'd1, DmaTimeout};  // somebody else's
    end
    resolve();
    if (i_meta.queue.size() == 0 && to_send != 0) begin
      rx_meta_t m;
      m.addr = next_addr;
      m.len = 14'($urandom_range(max_len, 60));
      m.queue = 16'($urandom());
      m.info = {$urandom(), $urandom(), $urandom(), $urandom()};
      m.info.header = one_in(4) ? '0 : 5'($urandom_range(31, 1));
      m.recorded = records;
      m.join_as = Alone;
      m.aggregate = aggregate_t'($urandom_range(4));
      if (joins || open[m.aggregate]) begin
        if (!open[m.aggregate]) m.join_as = one_in(3) ? Alone : Opens;
        else m.join_as = !joins || one_in(6) ? Closes : Follows;
        open[m.aggregate] = m.join_as inside {Opens, Follows};
        m.queue[4:0] = 5'(m.aggregate);
        // One that opens has payload.
        if (m.join_as == Opens && 14 + 4 * 32'(m.info.header) == 32'(m.len)) m.info.header = '0;
        if (m.join_as == Follows) begin
          m.info.header = 5'($urandom_range(20, 10));
          m.len = 14'(14 + 4 * m.info.header + $urandom_range(max_len / 4, 1));
        end
      end
      next_addr += 20'(rows(m) * UnitBytes);
      metas.push_back(m);
      i_meta.queue.push_back(m);
      to_send--;
      sent++;
    end
  end

  task automatic settle();
    while (to_send != 0 || meta.valid || i_meta.queue.size() != 0) @(posedge clk);
    ready_percent = 100;
    repeat (3000 + 4 * dma_latency) @(posedge clk);
    `CHECK(frames.size() == 0 && metas.size() == 0 && want_dma.size() == 0 && asked == sent,
           "a frame is stuck")
    `CHECK(
        i_record.expected.size() == 0 && i_commit.expected.size() == 0 && i_stop.expected.size() == 0 && want_free.size() == 0 && i_part.expected.size() == 0 && slotless_due.size() == 0,
        "a record, commit, stop, free or an aggregate without a slot is missing")
    for (int i = 0; i < 6; i++)
      `CHECK(got_count[i] == want_count[i], $sformatf(
             "count %0d: %0d, not %0d", i, got_count[i], want_count[i]))
  endtask

  initial begin
    int unsigned start;
    foreach (open[i]) {open[i], broken[i]} = '0;
    @(negedge rst);
    // One 60-byte frame a clock with descriptors 200 clocks away.
    to_send = 3000;
    repeat (400) @(posedge clk);
    start = i_record.taken;
    repeat (2000) @(posedge clk);
    `CHECK(i_record.taken - start >= 1998, $sformatf(
           "%0d frames in 2000 clocks", i_record.taken - start))
    settle();
    // So with all frames of streams.
    records = 1;
    to_send = 3000;
    repeat (400) @(posedge clk);
    start = asked;
    repeat (2000) @(posedge clk);
    `CHECK(asked - start >= 1998, $sformatf("%0d frames of streams in 2000 clocks", asked - start))
    settle();
    records = 0;
    // Headers and payload: two requests a frame, a frame in two clocks.
    splits  = 1;
    to_send = 3000;
    repeat (400) @(posedge clk);
    start = i_record.taken;
    repeat (2000) @(posedge clk);
    `CHECK(i_record.taken - start >= 998, $sformatf(
           "%0d frames in two parts in 2000 clocks", i_record.taken - start))
    settle();
    splits  = 0;
    // Everything that can go wrong, with back-pressure.
    trouble = 1;
    for (int round = 0; round < 30; round++) begin
      records = round >= 10;
      ready_percent = $urandom_range(100, 15);
      max_len = $urandom_range(3000, 60);
      desc_latency = $urandom_range(300, 1);
      dma_latency = $urandom_range(200, 1);
      to_send = 300;
      settle();
    end
    for (int i = 0; i < 6; i++)
      `CHECK(got_count[i] > 20, $sformatf("fate %0d was seen only %0d times", i, got_count[i]))
    `CHECK(dma_fails > 20 && streamed - packed_frames > 500 && packed_frames > 500,
           "no DMA failed, or no streams")
    `CHECK(split_frames > 1000 && whole_frames > 500 && long_headers > 50, $sformatf(
           "%0d frames in parts, %0d whole, %0d headers too long",
           split_frames,
           whole_frames,
           long_headers
           ))
    // Several frames in a slot.
    for (int round = 0; round < 40; round++) begin
      records = 0;
      joins = round < 39;
      trouble = round % 4 == 3 ? 0 : 1;
      splits = round % 8 == 3;
      ready_percent = $urandom_range(100, 15);
      max_len = $urandom_range(1000, 60);
      desc_latency = $urandom_range(100, 1);
      dma_latency = $urandom_range(100, 1);
      to_send = 300;
      settle();
    end
    splits = 0;
    `CHECK(
        followers > 4000 && cut_followers > 200 && closed > 700 && broken_ones > 50 && slotless_ones > 50 && beyond > 50,
        $sformatf(
        "%0d frames follow, %0d cut, %0d failed, %0d aggregates",
        followers,
        cut_followers,
        broken_ones,
        closed
        ))
    // Very slow writes: the engine must not ask for more than it can take.
    trouble = 0;
    dma_latency = 2000;
    to_send = 800;
    settle();
    trouble = 1;
    max_len = 3000;
    record_percent = 10;  // answers pile up
    to_send = 400;
    settle();
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// desc_fetch against a model of the queue manager, a DMA read engine (250 clocks, or random) and host memory: every
/// descriptor once and in order, short packets, failed reads, empty and stopped queues, a queue started again; one descriptor a clock and one read
/// for eight of them. With push_table: pushes that are true, for other slots, broken or late; none is delivered but for its own slot, and
/// none is lost count of. A queue that is asked now and then does not wait for its descriptors. With `Peeks` (desc_fetch_peeks_tb) doorbells
/// of any queue at any time: they change nothing but when a ring's first descriptors are read. With `Functions` (desc_fetch_functions_tb) an
/// address says whose it is, and is null where no function has it.
module desc_fetch_tb #(
    parameter queue_pkg::streams_t Streams = queue_pkg::StreamsFilled,
    parameter bit Peeks = 1'b0,
    parameter int Functions = 1
);
  import queue_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 256;
  localparam int RingSlots = 1024;
  localparam ram_sel_t Sel = 6'd3;
  localparam int Interface = 2;

  `STREAM_ON(queue_t, ring, clk, rst)
  `STREAM_ON(fetch_req_t, req, clk, rst)
  `STREAM_ON(fetch_granted_t, granted, clk, rst)
  `STREAM_ON(fetch_desc_t, desc, clk, rst)
  `STREAM_ON(deq_req_t, deq_req, clk, rst)
  `STREAM_ON(deq_rsp_t, deq_rsp, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  dma_status_t status;
  ram_write_t ram;
  fetch_events_t events;
  push_look_t look;
  push_found_t found;
  push_store_t store;
  pcie_pkg::line_write_t line = '0;
  logic [PushEntries-1:0] push_release = '0;
  logic push_dropped;
  push_table #(
      .Queues(Queues),
      .Interface(Interface),
      .Expiry(80)
  ) i_push (
      .clk_i(clk),
      .rst_i(rst),
      .line_i(line),
      .look_i(look),
      .found_o(found),
      .store_o(store),
      .release_i(push_release),
      .dropped_o(push_dropped)
  );
  desc_fetch #(
      .Queues(Queues),
      .Ports(4),
      .Streams(Streams),
      .Peeks(Peeks),
      .Indexed(Streams == StreamsEmptied),
      .Functions(Functions),
      .Sel(Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .ring,
      .req,
      .granted,
      .desc,
      .deq_req,
      .deq_rsp,
      .look_o(look),
      .found_i(found),
      .dma,
      .status_i(status),
      .ram_i(ram),
      .events_o(events)
  );

  // ---- What the phases set.
  int unsigned queues = 8, max_slots = 1, latency = 250, jitter = 0, qm_latency = 4;
  int unsigned req_percent = 0, granted_percent = 100, desc_percent = 100, dma_percent = 100;
  int unsigned
      make_percent = 100, error_percent = 0, stop_percent = 0, push_percent = 0, ring_percent = 0;
  bit random_queue = 0, full = 1;

  // ---- Host memory and queues.
  int unsigned produced[Queues], handed[Queues], consumed[Queues], log_block[Queues], epoch[Queues];
  bit stopped[Queues], stream[Queues], peeked[Queues], streams = 0;

  function automatic logic [63:0] address(int unsigned q, int unsigned index);
    return 64'h8_0000_0000 + (64'(q) << 18) + 64'(((index % RingSlots) << log_block[q]) * 16);
  endfunction

  /// What becomes of the address in a descriptor: it says whose it is. One that no function has is none.
  function automatic logic [63:0] told(int unsigned q, logic [63:0] addr);
    if (Functions == 1) return addr;
    if (addr[63:52] != 0 || addr == 0) return '0;
    return addr | 64'(q / (Queues / Functions)) << 56;
  endfunction

  /// Descriptors of one slot; of a longer slot a random one has length 0.
  function automatic void produce(int unsigned q);
    int unsigned n = stream[q] ? 0 : 1 << log_block[q];
    int unsigned hole = $urandom_range(n);
    for (int unsigned k = 0; k < n; k++) begin
      desc_t d;
      d = '0;
      d.len = (k == hole) ? 16'd0 : 16'($urandom_range(push_percent != 0 ? 300 : 1500, 1));
      d.reserved = FromMemory;
      d.addr = {16'(q), 16'(epoch[q]), 24'(produced[q]), 8'(k)};
      if (Functions > 1) begin
        d.addr = {12'd0, 8'(q), 12'(epoch[q]), 24'(produced[q]), 8'(k)};
        if (push_percent == 0 && $urandom_range(15) == 0) d.addr[51:0] = '0;
        if (push_percent == 0 && $urandom_range(15) == 0) d.addr[52+$urandom_range(11)] = 1;
      end
      i_host.memory[(address(q, produced[q])>>4)+64'(k)] = d;
    end
    produced[q]++;
  endfunction

  // ---- Pushes. Field `reserved` tells where a descriptor comes from: memory, a push of this slot, one of another slot.
  localparam logic [11:0] FromMemory = 12'd1, FromPush = 12'd2, Wrong = 12'd3;
  pcie_pkg::line_write_t lines[$];
  int unsigned pushes = 0, pushed = 0, push_drops = 0, packets_pushed = 0;
  desc_t held[PushEntries];  // packets pushed that an engine is to send
  bit [PushEntries-1:0] is_held = '0;
  logic [511:0] stored[PushEntries][4];

  function automatic logic [127:0] packet_piece(desc_t d, int unsigned piece);
    return {8{16'(d.addr[31:16]) ^ 16'(piece)}};
  endfunction

  function automatic void push(int unsigned q, desc_t d, bit broken);
    int unsigned n = d.inlined ? (32'(d.len) + 31) / 16 : 1;
    int unsigned skip = broken ? $urandom_range((n - 1) / 4) : 99;
    for (int unsigned l = 0; l < 4 && l * 4 < n; l++) begin  // a fifth line is another queue's
      pcie_pkg::line_write_t w;
      w.valid  = 1;
      w.line   = 26'((Interface << 17) + (q << 2) + l);
      w.pieces = 3'(n - 4 * l < 4 ? n - 4 * l : 4);
      for (int unsigned i = 0; i < 4; i++) w.data[128*i+:128] = packet_piece(d, 4 * l + i);
      if (l == 0) w.data[127:0] = d;
      if (l == skip && n > 1) w.pieces--;
      if (l != skip || w.pieces != 0) lines.push_back(w);
    end
    pushes++;
  endfunction

  /// The slot made last, as the CPU has it; or something like it.
  function automatic void push_newest(int unsigned q);
    desc_t d = i_host.memory[address(q, produced[q]-1)>>4];
    bit broken = $urandom_range(9) == 0;
    d.inlined = $urandom_range(1) == 1;
    d.slot = 16'(produced[q] - 1);
    d.reserved = FromPush;
    if (d.inlined && d.len > 240 && $urandom_range(3) != 0) d.inlined = 0;
    if ($urandom_range(5) == 0) begin
      d.slot = d.slot + 16'($urandom_range(9, 1) * RingSlots);
      d.reserved = Wrong;
      d.addr = {$urandom(), $urandom()};
    end
    push(q, d, broken);
  endfunction

  // ---- What must come out.
  typedef struct {
    fetch_desc_t beat;
    int unsigned index;
    bit          first;
  } expect_t;
  expect_t expected[$];
  port_t ports[$];
  dma_result_e result_of[bit [63:0]];  // of the last read of this descriptor

  int unsigned
      now = 0,
      beats = 0,
      next_queue = 0,
      next_max = 1,
      errors = 0,
      shorts = 0,
      empties = 0,
      placed = 0,
      peeks = 0,
      first_peeks = 0;

  task automatic dequeue(deq_req_t r);
    int unsigned q = int'(r.queue), per_block = 8 >> log_block[q], here, count;
    deq_rsp_t a;
    port_t port;
    a = '0;
    a.peek = r.max == '0;
    a.peeked = peeked[q];
    if (!a.peek) port = ports.pop_front();
    a.queue = r.queue;
    a.cq = r.queue ^ 16'h55;
    a.log_block = 2'(log_block[q]);
    a.index = 16'(handed[q]);
    a.addr = address(q, handed[q]);
    if (stopped[q]) a.status = DeqStopped;
    else if (stream[q] && a.peek) a.status = DeqStopped;
    else if (stream[q] && Streams == StreamsFilled) begin
      fetch_desc_t b;
      a.stream = 1;
      a.count = 1;
      a.addr = {$urandom(), $urandom()} & ~64'd15;
      b = '{
          port: port,
          beat: '{
              queue: r.queue,
              cq: a.cq,
              status: DeqOk,
              result: DmaOk,
              last: 1'b1,
              inlined: 1'b0,
              entry: '0,
              stream: 1'b1,
              ends: 1'b1,
              index: '0,
              desc: '0
          }
      };
      b.beat.desc.addr = a.addr;
      expected.push_back('{beat: b, index: 0, first: 1});
    end else if (produced[q] == handed[q]) a.status = DeqEmpty;
    else if (stream[q]) begin
      a.stream = 1;
      a.count = 1;
      here = RingSlots - handed[q] % RingSlots;
      if (produced[q] - handed[q] < here) here = produced[q] - handed[q];
      a.granules = turn_t'(here);
      a.more = produced[q] - handed[q] > here;
    end else begin
      here = per_block - handed[q] % per_block;
      if (produced[q] - handed[q] < here) here = produced[q] - handed[q];
      count = here < int'(r.max) ? here : int'(r.max);
      a.count = 4'(count);
      a.ahead = 4'(here - count);
      a.more = produced[q] - handed[q] > count;
      here = per_block - handed[q] % per_block;
      if (produced[q] - handed[q] > here) begin
        a.next = 4'(produced[q] - handed[q] - here);
        if (produced[q] - handed[q] - here > per_block) a.next = 4'(per_block);
      end
      a.wraps = (handed[q] + here) % RingSlots == 0;
      a.log_size = 4'($clog2(RingSlots));
    end
    i_deq_rsp.send_in(a, qm_latency);
    if (a.peek) begin
      peeks++;
      if (a.status == DeqOk) begin
        peeked[q] = 1;
        if (handed[q] == 0) first_peeks++;
      end
      return;
    end
    i_granted.expected.push_back(
        '{port: port,
        granted: '{queue: r.queue, status: a.status, count: a.count, more: a.more}});
    if (a.status != DeqOk) begin
      expect_t e;
      e.beat = '{
          port: port,
          beat: '{
              queue: r.queue,
              cq: a.cq,
              status: a.status,
              result: DmaOk,
              last: 1'b1,
              inlined: 1'b0,
              entry: '0,
              stream: 1'b0,
              ends: 1'b0,
              index: '0,
              desc: '0
          }
      };
      expected.push_back(e);
    end
    while (a.granules != 0 && here != 0) begin
      expect_t e;
      int unsigned piece = 256 - handed[q] % 256;
      if (here < piece) piece = here;
      e.beat = '0;
      e.beat.port = port;
      e.beat.beat.queue = r.queue;
      e.beat.beat.cq = a.cq;
      e.beat.beat.last = 1;
      e.beat.beat.stream = 1;
      e.beat.beat.ends = here == piece;
      e.beat.beat.desc.addr = address(q, handed[q]);
      e.beat.beat.desc.len = 16'(16 * piece);
      handed[q] += piece;
      e.beat.beat.desc.slot = 16'(handed[q]);
      here -= piece;
      expected.push_back(e);
    end
    for (int unsigned s = 0; !a.stream && s < int'(a.count); s++) begin
      for (int unsigned k = 0; k < (1 << log_block[q]); k++) begin
        expect_t e;
        desc_t d = i_host.memory[(address(q, handed[q]+s)>>4)+64'(k)];
        bit ends = k + 1 == (1 << log_block[q]);
        if (!ends) begin
          desc_t n = i_host.memory[(address(q, handed[q]+s)>>4)+64'(k+1)];
          ends = n.len == 0;
          if (ends) shorts++;
        end
        e.beat = '{
            port: port,
            beat: '{
                queue: r.queue,
                cq: a.cq,
                status: DeqOk,
                result: DmaOk,
                last: ends,
                inlined: 1'b0,
                entry: '0,
                stream: 1'b0,
                ends: 1'b0,
                index: Streams == StreamsEmptied ? 16'(handed[q] + s) : '0,
                desc: d
            }
        };
        e.beat.beat.desc.addr = told(q, d.addr);
        e.index = handed[q] + s;
        e.first = k == 0;
        expected.push_back(e);
        if (ends) break;
      end
    end
    if (!a.stream) handed[q] += int'(a.count);
  endtask

  task automatic check_beat(fetch_desc_t got);
    expect_t e;
    dma_result_e result = DmaOk;
    `CHECK(expected.size() != 0, "a descriptor nobody asked for")
    e = expected.pop_front();
    beats++;
    if (e.beat.beat.status == DeqOk && got.beat.desc.reserved == FromPush) begin
      e.beat.beat.desc.reserved = FromPush;
      e.beat.beat.desc.slot = 16'(e.index);
      e.beat.beat.desc.inlined = got.beat.desc.inlined;
      e.beat.beat.inlined = got.beat.desc.inlined;
      e.beat.beat.entry = got.beat.entry;
      consumed[int'(e.beat.beat.queue)]++;
      pushed++;
      if (got.beat.inlined) begin
        packets_pushed++;
        `CHECK(!is_held[got.beat.entry] && got.beat.desc.len <= 240, "an entry is given out twice")
        is_held[got.beat.entry] = 1;
        held[got.beat.entry] = got.beat.desc;
      end
    end else if (e.beat.beat.status != DeqOk) begin
      {e.beat.beat.desc, e.beat.beat.index} = {got.beat.desc, got.beat.index};  // undefined
      empties++;
    end else if (e.beat.beat.stream) begin
      `CHECK(got.beat.desc.addr == e.beat.beat.desc.addr, "a wrong place")
      consumed[int'(e.beat.beat.queue)] += 32'(e.beat.beat.desc.len) / 16;
      if (Streams == StreamsFilled)
        e.beat.beat.desc = got.beat.desc;  // undefined but for the address
      placed++;
    end else begin
      bit [63:0] at = address(int'(e.beat.beat.queue), e.index) >> 4;
      `CHECK(result_of.exists(at), "delivered without having been read")
      if (e.first) result = result_of[at];
      if (result != DmaOk) begin  // one beat instead of the packet's
        while (!e.beat.beat.last) e = expected.pop_front();
        e.beat.beat.desc   = got.beat.desc;
        e.beat.beat.result = result;
        errors++;
      end
      if (e.beat.beat.last) consumed[int'(e.beat.beat.queue)]++;
    end
    if (!got.beat.inlined) e.beat.beat.entry = got.beat.entry;  // undefined
    if (!got.beat.stream) e.beat.beat.ends = got.beat.ends;
    `CHECK(got === e.beat, $sformatf("beat %0d is %p, expected %p", beats, got, e.beat))
  endtask

  function automatic bit percent(int unsigned p);
    return $urandom_range(99) < p;
  endfunction

  // ---- DMA read engine and the ends of the streams.
  `DMA_HOST_READ(i_host, Sel, dma, dma_percent, latency, jitter, error_percent)
  `STREAM_SOURCE(fetch_req_t, i_req, req, 100)
  `STREAM_SOURCE(queue_t, i_ring, ring, 100)
  `STREAM_SINK(deq_req_t, i_deq_req, deq_req, full ? 100 : 80)
  `STREAM_SOURCE(deq_rsp_t, i_deq_rsp, deq_rsp, 100)
  `STREAM_CHECK(fetch_granted_t, i_granted, granted, granted_percent)
  `STREAM_SINK(fetch_desc_t, i_desc, desc, desc_percent)
  dma_req_t asked[$];  // reads without a status
  int unsigned fetched = 0;  // descriptors

  always @(posedge clk) begin
    now <= now + 1;
    if (!rst) begin
      if (status.valid && status.sel == Sel) begin
        automatic dma_req_t r = asked.pop_front();
        for (int i = 0; i < int'(r.len) / 16; i++)
        result_of[(r.host_addr>>4)+64'(i)] = status.result;
        `CHECK(events.failed == (status.result != DmaOk), "a read that failed is counted, no other")
      end else `CHECK(!events.failed, "no read ended")
      if (desc.valid && desc.ready) check_beat(desc.data);
      line <= '0;
      if (lines.size() != 0 && percent(90)) line <= lines.pop_front();
      push_drops += 32'(push_dropped);
      push_drops += in_vain_at_once();
      if (store.valid) stored[store.entry][store.line] = store.data;
      push_release <= '0;
      for (int i = 0; i < PushEntries; i++)
      if (is_held[i] && percent(5)) begin
        for (int unsigned p = 1; p < (32'(held[i].len) + 31) / 16; p++)
          `CHECK(stored[i][p/4][128*(p%4)+:128] == packet_piece(held[i], p),
                 "another packet is stored")
        push_release[i] <= 1;
        is_held[i] = 0;
      end
      if (dma.valid && dma.ready) begin
        `CHECK(!dma.data.relaxed && dma.data.len[3:0] == 0, "odd read")
        `CHECK(32'(dma.data.host_addr[6:0]) + 32'(dma.data.len) <= 128, "read leaves its block")
        asked.push_back(dma.data);
        fetched += int'(dma.data.len) / 16;
        `CHECK(asked.size() <= 128, "more reads than slots")
      end
      if (req.valid && req.ready) ports.push_back(req.data.port);
      if (deq_req.valid && deq_req.ready) dequeue(deq_req.data);
      // Directed: ask for no more than one descriptor a clock, so that the rings stay full.
      if (i_req.queue.size() == 0 && percent(
              req_percent
          ) && (random_queue || now % max_slots == 0)) begin
        next_queue = random_queue ? $urandom_range(queues - 1) : (next_queue + 1) % queues;
        next_max   = random_queue ? $urandom_range(max_slots, 1) : max_slots;
        i_req.queue.push_back('{port: 2'($urandom()),
                              req: '{queue: 16'(next_queue), max: 4'(next_max), granules: '0}});
      end
      if (Peeks && i_ring.queue.size() == 0 && percent(ring_percent))
        i_ring.queue.push_back(16'($urandom_range(queues - 1)));
      if (percent(stop_percent)) stopped[$urandom_range(queues-1)] ^= 1;
      // The host keeps rings full, or adds a slot here and there.
      if (full) begin
        for (int unsigned q = 0; q < queues; q++)
        while (produced[q] - consumed[q] < RingSlots) produce(q);
      end else if (percent(make_percent)) begin
        automatic int unsigned q = $urandom_range(queues - 1);
        repeat ($urandom_range(
            push_percent != 0 ? 1 : 4
        ))
        if (produced[q] - consumed[q] < RingSlots) begin
          produce(q);
          if (!stream[q] && percent(push_percent)) push_newest(q);
        end
      end
    end
  end

  /// Pushes that come to nothing in this clock beside the one that push_table counts.
  function automatic int unsigned in_vain_at_once();
    bit [PushEntries-1:0] ended = i_push.expired;
    int unsigned n;
    if (!i_push.match) ended |= i_push.seen;
    if (i_push.lose || (i_push.keep && i_push.begins && i_push.open[i_push.place]))
      ended[i_push.place] = 1;
    if (look.step && i_push.found_valid_q && !look.used) ended[i_push.found_q] = 1;
    n = $countones(ended) + 32'(i_push.mine && !i_push.keep && i_push.begins);
    return n > 1 ? n - 1 : 0;
  endfunction

  task automatic drain();
    req_percent = 0;
    ring_percent = 0;
    granted_percent = 100;
    desc_percent = 100;
    dma_percent = 100;
    do repeat (100) @(posedge clk); while (expected.size() != 0 || asked.size() != 0);
    repeat (100) @(posedge clk);
    `CHECK(i_granted.expected.size() == 0 && asked.size() == 0 && !desc.valid,
           "something is left over")
    `CHECK(dut.to_find_q == '0 && dut.to_grant_q == '0 && dut.directs_q == '0, "room is lost")
    `CHECK(dut.reading_q == '0 && dut.issued_q == dut.left_q, "a slot is lost")
  endtask

  /// Starts every queue again at index 0, with new descriptors in the old places.
  task automatic restart(bit blocks);
    for (int unsigned q = 0; q < Queues; q++) begin
      produced[q] = 0;
      handed[q]   = 0;
      consumed[q] = 0;
      epoch[q]++;
      stopped[q]   = 0;
      peeked[q]    = 0;
      stream[q]    = streams && q % 4 == 1;
      log_block[q] = blocks && !stream[q] ? $urandom_range(3) : 0;
    end
  endtask

  task automatic measure(string name, int unsigned n, int unsigned max,
                         int unsigned percent_of_clocks);
    int unsigned beats0, reads0, fetched0;
    drain();
    restart(0);
    full = 1;
    random_queue = 0;
    queues = n;
    max_slots = max;
    req_percent = 100;
    repeat (2000) @(posedge clk);
    beats0   = beats;
    reads0   = i_host.taken;
    fetched0 = fetched;
    repeat (4000) @(posedge clk);
    $display("%s: %0d descriptors, %0d reads in 4000 clocks", name, beats - beats0,
             i_host.taken - reads0);
    `CHECK((beats - beats0) * 100 >= 4000 * percent_of_clocks, "too slow")
    if (n <= 64) `CHECK((i_host.taken - reads0) <= (beats - beats0) / 8 + 16 + n, "too many reads")
    `CHECK(fetched - fetched0 <= beats - beats0 + 8 * n + 16, "reads what nobody uses")
    drain();
  endtask

  /// One request now and then, through more than a ring: which ones wait for a read.
  task automatic idle();
    int unsigned late = 0, beats0, asked_at;
    drain();
    restart(0);
    {full, queues, latency, jitter} = {1'b1, 32'd1, 32'd60, 32'd0};
    if (Peeks) begin
      repeat (4) @(posedge clk);
      i_ring.queue.push_back('0);
      repeat (100) @(posedge clk);
    end
    repeat (RingSlots + 100) begin
      beats0   = beats;
      asked_at = now;
      i_req.queue.push_back('{port: '0, req: '{queue: '0, max: 4'd1, granules: '0}});
      while (beats == beats0) @(posedge clk);
      late += 32'(now - asked_at > 60);
      repeat (100) @(posedge clk);
    end
    $display("an idle queue: %0d of %0d requests wait for a read", late, RingSlots + 100);
    `CHECK(late <= (Peeks ? 0 : 2), "a request waits for its descriptor")
    latency = 250;
  endtask

  /// Doorbells of twice as many queues as there are blocks, before the first read ends: each block is read once at a time.
  task automatic all_ring();
    drain();
    restart(0);
    {full, queues, latency, jitter} = {1'b1, 32'(Queues), 32'd3000, 32'd200};
    repeat (4) @(posedge clk);
    for (int unsigned q = 0; q < Queues; q++) begin
      i_ring.queue.push_back(16'(q));
      repeat (5) @(posedge clk);
    end
    `CHECK(asked.size() == 128, "as many reads as slots")
    latency = 250;
    {random_queue, max_slots, req_percent} = {1'b1, 32'd1, 32'd50};
    repeat (6000) @(posedge clk);
    drain();
  endtask

  initial begin
    @(negedge rst);
    // Every fourth queue a stream.
    streams = 1;
    random_queue = 1;
    restart(1);
    queues = 16;
    max_slots = 8;
    req_percent = 60;
    repeat (4000) @(posedge clk);
    drain();
    streams = 0;
    measure("1 queue, 1 a request", 1, 1, 99);
    measure("8 queues, 1 a request", 8, 1, 99);
    measure("64 queues, 1 a request", 64, 1, 99);
    measure("1 queue, 8 a request", 1, 8, 99);
    measure("8 queues, 8 a request", 8, 8, 99);
    measure("8 queues, 2 a request", 8, 2, 99);
    // Twice as many as blocks: what is read ahead would be gone before it is asked for.
    measure("256 queues, 1 a request", 256, 1, 40);
    idle();
    if (Peeks) all_ring();
    // More queues than blocks, everything random, every fourth a stream.
    streams = 1;
    for (int i = 0; i < 30; i++) begin
      drain();
      restart($urandom_range(1) == 1);
      random_queue = 1;
      full = $urandom_range(2) == 0;
      queues = 1 << $urandom_range(8);
      max_slots = $urandom_range(8, 1);
      latency = $urandom_range(300, 1);
      jitter = $urandom_range(1) * $urandom_range(200);
      qm_latency = $urandom_range(8, 1);
      make_percent = $urandom_range(100, 1);
      error_percent = $urandom_range(1) * 10;
      stop_percent = $urandom_range(1);
      req_percent = $urandom_range(100, 20);
      desc_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      granted_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      dma_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      ring_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(10);
      repeat (2000) @(posedge clk);
    end
    drain();
    `CHECK(errors > 50 && shorts > 50 && empties > 50 && placed > 500,
           "the random phase missed a case")
    `CHECK(!Peeks || (peeks > 2000 && first_peeks > 100), "the random phase missed a peek")
    // Queues that are idle most of the time, and a CPU that pushes what it has put into them.
    full = 0;
    error_percent = 5;
    stop_percent = 0;
    desc_percent = 100;
    granted_percent = 100;
    dma_percent = 100;
    qm_latency = 4;
    for (int i = 0; i < 12; i++) begin
      push_percent = 0;
      drain();
      repeat (256) @(posedge clk);  // as long as a push is kept: a ring is not started again before
      restart(i % 4 == 3);
      push_percent = 90;
      ring_percent = 5;
      queues = 1 << $urandom_range(4);
      max_slots = $urandom_range(8, 1);
      latency = $urandom_range(200, 1);
      jitter = $urandom_range(1) * 100;
      make_percent = $urandom_range(20, 1);
      req_percent = $urandom_range(60, 10);
      repeat (4000) @(posedge clk);
    end
    push_percent = 0;
    drain();
    repeat (256) @(posedge clk);
    `CHECK(pushed > 200 && packets_pushed > 50 && push_drops > 200, $sformatf(
           "%0d pushes, %0d taken, %0d with packets, %0d in vain",
           pushes,
           pushed,
           packets_pushed,
           push_drops
           ))
    `CHECK(pushed + push_drops >= pushes && i_push.lose == 0 && is_held == '0, $sformatf(
           "%0d + %0d of %0d pushes, held %b", pushed, push_drops, pushes, is_held))
    // Nothing is granted or delivered without room: a stalled engine holds everything, then all goes on.
    restart(0);
    full = 1;
    error_percent = 0;
    stop_percent = 0;
    desc_percent = 0;
    granted_percent = 0;
    req_percent = 100;
    repeat (1000) @(posedge clk);
    drain();
    $display("%0d descriptors, %0d failed, %0d short packets, %0d empty", beats, errors, shorts,
             empties);
    `TB_PASS
  end
endmodule

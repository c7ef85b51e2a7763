// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// desc_fetch against models of queue manager, DMA read engine (250 clocks) and host memory: every descriptor once and in
/// order, short packets, failed reads, empty and stopped queues, a queue started again; one descriptor a clock and one read
/// for eight of them.
module desc_fetch_tb;
  import queue_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 256;
  localparam int RingSlots = 1024;
  localparam ram_sel_t Sel = 5'd3;

  `STREAM_ON(fetch_req_t, req, clk, rst)
  `STREAM_ON(fetch_granted_t, granted, clk, rst)
  `STREAM_ON(fetch_desc_t, desc, clk, rst)
  `STREAM_ON(deq_req_t, deq_req, clk, rst)
  `STREAM_ON(deq_rsp_t, deq_rsp, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  dma_status_t status;
  ram_write_t ram;
  fetch_events_t events;
  desc_fetch #(
      .Queues(Queues),
      .Ports(4),
      .Sel(Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .req,
      .granted,
      .desc,
      .deq_req,
      .deq_rsp,
      .dma,
      .status_i(status),
      .ram_i(ram),
      .events_o(events)
  );

  // ---- What the phases set.
  int unsigned queues = 8, max_slots = 1, latency = 250, qm_latency = 4;
  int unsigned req_percent = 0, granted_percent = 100, desc_percent = 100, dma_percent = 100;
  int unsigned make_percent = 100, error_percent = 0, stop_percent = 0;
  bit random_queue = 0, full = 1;

  // ---- Host memory and queues.
  logic [127:0] memory[bit [63:0]];  // by address / 16
  int unsigned produced[Queues], handed[Queues], consumed[Queues], log_block[Queues], epoch[Queues];
  bit stopped[Queues];

  function automatic logic [63:0] address(int unsigned q, int unsigned index);
    return 64'h8_0000_0000 + (64'(q) << 18) + 64'(((index % RingSlots) << log_block[q]) * 16);
  endfunction

  /// Descriptors of one slot; of a longer slot a random one has length 0.
  function automatic void produce(int unsigned q);
    int unsigned n = 1 << log_block[q];
    int unsigned hole = $urandom_range(n);
    for (int unsigned k = 0; k < n; k++) begin
      desc_t d;
      d = '0;
      d.len = (k == hole) ? 16'd0 : 16'($urandom_range(1500, 1));
      d.addr = {16'(q), 16'(epoch[q]), 24'(produced[q]), 8'(k)};
      memory[(address(q, produced[q])>>4)+64'(k)] = d;
    end
    produced[q]++;
  endfunction

  // ---- What must come out.
  typedef struct {
    fetch_desc_t beat;
    int unsigned index;
    bit          first;
  } expect_t;
  expect_t expected[$];
  fetch_granted_t expected_granted[$];
  port_t ports[$];
  dma_result_e result_of[bit [63:0]];  // of the last read of this descriptor

  typedef struct {
    deq_rsp_t    rsp;
    int unsigned due;
  } answer_t;
  answer_t answers[$];
  typedef struct {
    dma_req_t    req;
    dma_result_e result;
    int unsigned due;
  } read_t;
  read_t reads[$];
  int unsigned
      now = 0,
      beats = 0,
      read_count = 0,
      next_queue = 0,
      next_max = 1,
      errors = 0,
      shorts = 0,
      empties = 0;

  task automatic dequeue(deq_req_t r);
    int unsigned q = int'(r.queue), per_block = 8 >> log_block[q], here, count;
    answer_t a;
    port_t   port = ports.pop_front();
    a.due = now + qm_latency;
    a.rsp = '0;
    a.rsp.queue = r.queue;
    a.rsp.cq = r.queue ^ 16'h55;
    a.rsp.log_block = 2'(log_block[q]);
    a.rsp.index = 16'(handed[q]);
    a.rsp.addr = address(q, handed[q]);
    if (stopped[q]) a.rsp.status = DeqStopped;
    else if (produced[q] == handed[q]) a.rsp.status = DeqEmpty;
    else begin
      here = per_block - handed[q] % per_block;
      if (produced[q] - handed[q] < here) here = produced[q] - handed[q];
      count = here < int'(r.max) ? here : int'(r.max);
      a.rsp.count = 4'(count);
      a.rsp.ahead = 4'(here - count);
      a.rsp.more = produced[q] - handed[q] > count;
    end
    answers.push_back(a);
    expected_granted.push_back(
        '{port: port,
        granted: '{queue: r.queue, status: a.rsp.status, count: a.rsp.count, more: a.rsp.more}
        });
    if (a.rsp.status != DeqOk) begin
      expect_t e;
      e.beat = '{
          port: port,
          beat: '{
              queue: r.queue,
              cq: a.rsp.cq,
              status: a.rsp.status,
              result: DmaOk,
              last: 1'b1,
              desc: '0
          }
      };
      expected.push_back(e);
    end
    for (int unsigned s = 0; s < int'(a.rsp.count); s++) begin
      for (int unsigned k = 0; k < (1 << log_block[q]); k++) begin
        expect_t e;
        desc_t d = memory[(address(q, handed[q]+s)>>4)+64'(k)];
        bit ends = k + 1 == (1 << log_block[q]);
        if (!ends) begin
          desc_t n = memory[(address(q, handed[q]+s)>>4)+64'(k+1)];
          ends = n.len == 0;
          if (ends) shorts++;
        end
        e.beat = '{
            port: port,
            beat: '{
                queue: r.queue,
                cq: a.rsp.cq,
                status: DeqOk,
                result: DmaOk,
                last: ends,
                desc: d
            }
        };
        e.index = handed[q] + s;
        e.first = k == 0;
        expected.push_back(e);
        if (ends) break;
      end
    end
    handed[q] += int'(a.rsp.count);
  endtask

  task automatic check_beat(fetch_desc_t got);
    expect_t e;
    dma_result_e result = DmaOk;
    `CHECK(expected.size() != 0, "a descriptor nobody asked for")
    e = expected.pop_front();
    beats++;
    if (e.beat.beat.status != DeqOk) begin
      e.beat.beat.desc = got.beat.desc;  // undefined
      empties++;
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
    `CHECK(got === e.beat, $sformatf("beat %0d is %p, expected %p", beats, got, e.beat))
  endtask

  // ---- DMA read engine: one row a clock, 64 bytes of it, now and then something for another client.
  read_t current;
  int unsigned current_left = 0, current_at = 0, reads_under_way = 0;
  task automatic dma_clock();
    status <= '{valid: $urandom_range(9) == 0, sel: Sel ^ 5'd1, result: DmaAborted};
    ram.sel <= Sel ^ 5'd1;
    ram.valid <= '1;
    ram.strb <= '1;
    for (int i = 0; i < Segs; i++) begin
      ram.row[i]  <= row_addr_t'($urandom_range(127));
      ram.data[i] <= {4{32'hdead_beef}};
    end
    if (current_left == 0 && reads.size() != 0 && reads[0].due <= now) begin
      current = reads.pop_front();
      current_left = int'(current.req.len) / 16;
      current_at = 0;
    end
    if (current_left != 0) begin
      int unsigned n = current_left < 4 ? current_left : 4;
      ram.sel   <= Sel;
      ram.valid <= '0;
      for (int unsigned i = 0; i < n; i++) begin
        ram_addr_t a = current.req.ram_addr + ram_addr_t'(16 * (current_at + i));
        bit [63:0] h = (current.req.host_addr >> 4) + 64'(current_at + i);
        ram.valid[a[6:4]] <= current.result == DmaOk;
        ram.row[a[6:4]]   <= a[RamAddrW-1:7];
        ram.data[a[6:4]]  <= memory.exists(h) ? memory[h] : {4{32'hbad0_bad0}};
      end
      current_at += n;
      current_left -= n;
      if (current_left == 0) begin
        status <= '{valid: 1'b1, sel: Sel, result: current.result};
        reads_under_way--;
      end
    end
  endtask

  function automatic bit percent(int unsigned p);
    return $urandom_range(99) < p;
  endfunction

  always @(posedge clk) begin
    now <= now + 1;
    if (rst) begin
      req.valid <= 0;
      deq_rsp.valid <= 0;
      deq_req.ready <= 0;
      dma.ready <= 0;
      granted.ready <= 0;
      desc.ready <= 0;
      status <= '0;
      ram <= '0;
    end else begin
      if (desc.valid && desc.ready && !rst) check_beat(desc.data);
      if (granted.valid && granted.ready && !rst) begin
        `CHECK(expected_granted.size() != 0, "a grant nobody asked for")
        `CHECK(granted.data === expected_granted.pop_front(), "wrong grant")
      end
      if (dma.valid && dma.ready && !rst) begin
        read_t r;
        r.req = dma.data;
        r.due = now + latency;
        r.result = percent(error_percent) ? dma_result_e'($urandom_range(4, 1)) : DmaOk;
        `CHECK(r.req.sel == Sel && !r.req.relaxed && r.req.len[3:0] == 0 && r.req.len != 0,
               "odd read")
        `CHECK(32'(r.req.host_addr[6:0]) + 32'(r.req.len) <= 128, "read leaves its block")
        for (int i = 0; i < int'(r.req.len) / 16; i++)
        result_of[(r.req.host_addr>>4)+64'(i)] = r.result;
        reads.push_back(r);
        read_count++;
        reads_under_way++;
        `CHECK(reads_under_way <= 128, "more reads than slots")
      end
      dma_clock();
      if (deq_rsp.valid && deq_rsp.ready && !rst) void'(answers.pop_front());
      deq_rsp.valid <= answers.size() != 0 && answers[0].due <= now;
      if (answers.size() != 0) deq_rsp.data <= answers[0].rsp;
      if (req.valid && req.ready && !rst) ports.push_back(req.data.port);
      if (deq_req.valid && deq_req.ready && !rst) dequeue(deq_req.data);
      deq_req.ready <= full || percent(80);
      dma.ready <= percent(dma_percent);
      granted.ready <= percent(granted_percent);
      desc.ready <= percent(desc_percent);
      if (!req.valid || req.ready) begin
        // Directed: ask for no more than one descriptor a clock, so that the rings stay full.
        req.valid <= percent(req_percent) && (random_queue || now % max_slots == 0);
        next_queue = random_queue ? $urandom_range(queues - 1) : (next_queue + 1) % queues;
        next_max   = random_queue ? $urandom_range(max_slots, 1) : max_slots;
        req.data <= '{port: 2'($urandom()), req: '{queue: 16'(next_queue), max: 4'(next_max)}};
      end
      if (percent(stop_percent)) stopped[$urandom_range(queues-1)] ^= 1;
      // The host keeps rings full, or adds a slot here and there.
      if (full) begin
        for (int unsigned q = 0; q < queues; q++)
        while (produced[q] - consumed[q] < RingSlots) produce(q);
      end else if (percent(make_percent)) begin
        automatic int unsigned q = $urandom_range(queues - 1);
        repeat ($urandom_range(4)) if (produced[q] - consumed[q] < RingSlots) produce(q);
      end
    end
  end

  task automatic drain();
    req_percent = 0;
    granted_percent = 100;
    desc_percent = 100;
    dma_percent = 100;
    do repeat (100) @(posedge clk); while (expected.size() != 0);
    repeat (100) @(posedge clk);
    `CHECK(expected_granted.size() == 0 && reads_under_way == 0 && !desc.valid,
           "something is left over")
    `CHECK(dut.asked_count == '0 && dut.found_count == '0 && dut.granted_count == '0,
           "room is lost")
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
      log_block[q] = blocks ? $urandom_range(3) : 0;
    end
  endtask

  task automatic measure(string name, int unsigned n, int unsigned max,
                         int unsigned percent_of_clocks);
    int unsigned beats0, reads0;
    drain();
    restart(0);
    full = 1;
    random_queue = 0;
    queues = n;
    max_slots = max;
    req_percent = 100;
    repeat (1000) @(posedge clk);
    beats0 = beats;
    reads0 = read_count;
    repeat (4000) @(posedge clk);
    $display("%s: %0d descriptors, %0d reads in 4000 clocks", name, beats - beats0,
             read_count - reads0);
    `CHECK((beats - beats0) * 100 >= 4000 * percent_of_clocks, "too slow")
    `CHECK((read_count - reads0) <= (beats - beats0) / 8 + 16, "too many reads")
    drain();
  endtask

  initial begin
    @(negedge rst);
    measure("1 queue, 1 a request", 1, 1, 99);
    measure("8 queues, 1 a request", 8, 1, 99);
    measure("64 queues, 1 a request", 64, 1, 99);
    measure("1 queue, 8 a request", 1, 8, 99);
    measure("8 queues, 8 a request", 8, 8, 99);
    measure("8 queues, 2 a request", 8, 2, 99);
    // More queues than blocks, everything random.
    for (int i = 0; i < 30; i++) begin
      drain();
      restart($urandom_range(1) == 1);
      random_queue = 1;
      full = $urandom_range(2) == 0;
      queues = 1 << $urandom_range(8);
      max_slots = $urandom_range(8, 1);
      latency = $urandom_range(300, 1);
      qm_latency = $urandom_range(8, 1);
      make_percent = $urandom_range(100, 1);
      error_percent = $urandom_range(1) * 10;
      stop_percent = $urandom_range(1);
      req_percent = $urandom_range(100, 20);
      desc_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      granted_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      dma_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      repeat (2000) @(posedge clk);
    end
    drain();
    `CHECK(errors > 50 && shorts > 50 && empties > 50, "the random phase missed a case")
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

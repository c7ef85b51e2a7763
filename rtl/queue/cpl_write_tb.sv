// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cpl_write against a model of the completion queue manager, a DMA write engine (250 clocks, or random) and host memory: every
/// record once, in its place, before its commit; the delay kept; lost records counted; one record a clock and one write for eight.
module cpl_write_tb;
  import queue_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 256;
  localparam int RingSlots = 512;
  localparam ram_sel_t Sel = 6'd6;

  `STREAM_ON(record_t, record, clk, rst)
  `STREAM_ON(queue_t, enq_req, clk, rst)
  `STREAM_ON(enq_rsp_t, enq_rsp, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  dma_status_t status;
  ram_read_t ram_read;
  ram_row_t ram_row;
  logic [15:0] max_delay = 200;
  cpl_write_events_t events;
  cpl_write #(
      .Queues(Queues),
      .Sel(Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_delay_i(max_delay),
      .record,
      .enq_req,
      .enq_rsp,
      .commit,
      .dma,
      .status_i(status),
      .ram_i(ram_read),
      .ram_o(ram_row),
      .events_o(events)
  );

  // ---- What the phases set.
  int unsigned queues = 8, latency = 250, jitter = 0, enq_latency = 4;
  int unsigned record_percent = 0, enq_percent = 100, commit_percent = 100, dma_percent = 100;
  int unsigned refuse_percent = 0, fail_percent = 0;
  bit random_queue = 0;

  // ---- Queues as the model has them; a refused record takes no place.
  int unsigned given[Queues], epoch[Queues], placed = 0, committed = 0;
  record_t sent[$];  // records taken by the DUT that wait for their place
  typedef struct {
    record_t     record;
    logic [63:0] addr;
    int unsigned born;
  } want_t;
  want_t want[Queues][$];  // placed, not yet written
  int unsigned now = 0, records = 0, lost = 0, lost_seen = 0, under_way = 0;
  int unsigned
      next_queue = 0,
      writes_seen = 0,
      expired_seen = 0,
      evicted_seen = 0,
      failed_seen = 0,
      failed = 0;
  int unsigned worst = 0, serial = 0;

  function automatic bit percent(int unsigned p);
    return $urandom_range(99) < p;
  endfunction

  function automatic logic [63:0] address(int unsigned q, int unsigned index);
    return {24'(epoch[q]), 8'h12, 16'(q), 16'h0} + 64'((index % RingSlots) * 16);
  endfunction

  task automatic enqueue(queue_t cq);
    enq_rsp_t a;
    int unsigned q = int'(cq);
    record_t r = sent.pop_front();
    `CHECK(r.cq == cq, "asks for another queue's place")
    a.cq = cq;
    a.ok = !percent(refuse_percent);
    a.index = 16'(given[q]);
    a.phase = ((given[q] / RingSlots) & 1) == 0;
    a.addr = address(q, given[q]);
    if (a.ok) begin
      r.record[31] = a.phase;
      want[q].push_back('{record: r, addr: a.addr, born: now});
      given[q]++;
      placed++;
    end else begin
      a.addr = {$urandom(), $urandom()};
      lost++;
    end
    i_enq_rsp.send_in(a, enq_latency);
  endtask

  `DMA_HOST_WRITE(i_host, Sel, dma, dma_percent, latency, jitter, fail_percent)
  `STREAM_SOURCE(record_t, i_record, record, 100)
  `STREAM_SINK(queue_t, i_enq_req, enq_req, enq_percent)
  `STREAM_SOURCE(enq_rsp_t, i_enq_rsp, enq_rsp, 100)
  `STREAM_CHECK(commit_t, i_commit, commit, commit_percent)
  dma_req_t asked[$];  // writes without a status

  // A write has its status: what it wrote is in memory, in its place.
  task automatic check_write(dma_req_t r);
    int unsigned q = int'(r.host_addr[31:16]), n = int'(r.len) / 16;
    for (int unsigned i = 0; i < n; i++) begin
      want_t w;
      `CHECK(q < Queues && want[q].size() != 0, "more written than there is")
      w = want[q].pop_front();
      `CHECK(r.host_addr + 64'(16 * i) == w.addr, "written at the wrong place")
      `CHECK(i_host.memory[w.addr/16] === w.record.record, "wrong record")
      // The status is seen a clock after the engine had the row.
      if (now - 1 - w.born > worst) worst = now - 1 - w.born;
      records++;
    end
    i_commit.expected.push_back('{queue: queue_t'(q), count: 9'(n)});
    if (status.result != DmaOk) failed++;
  endtask

  always @(posedge clk) begin
    now <= now + 1;
    if (!rst) begin
      lost_seen += 32'(events.lost);
      writes_seen += 32'(events.write);
      expired_seen += 32'(events.expired);
      evicted_seen += 32'(events.evicted);
      failed_seen += 32'(events.failed);
      if (commit.valid && commit.ready) begin
        committed += int'(commit.data.count);
        under_way--;
      end
      if (status.valid && status.sel == Sel) check_write(asked.pop_front());
      if (dma.valid && dma.ready) begin
        `CHECK(!dma.data.relaxed && dma.data.len[3:0] == 0, "odd write")
        `CHECK(32'(dma.data.host_addr[6:0]) + 32'(dma.data.len) <= 128, "write leaves its block")
        asked.push_back(dma.data);
        under_way++;
        `CHECK(under_way <= 64, "more writes than lines")
      end
      if (record.valid && record.ready) sent.push_back(record.data);
      if (enq_req.valid && enq_req.ready) enqueue(enq_req.data);
      if (i_record.queue.size() == 0 && percent(record_percent)) begin
        next_queue = random_queue ? $urandom_range(queues - 1) : (next_queue + 1) % queues;
        i_record.queue.push_back('{cq: queue_t'(next_queue),
                                 record: {$urandom(), $urandom(), $urandom(), serial}});
        serial++;
      end
    end
  end

  function automatic bit idle();
    return !record.valid && i_record.queue.size() == 0 && sent.size() == 0 && i_enq_rsp.queue.size() == 0 && committed == placed;
  endfunction

  task automatic drain();
    record_percent = 0;
    enq_percent = 100;
    commit_percent = 100;
    dma_percent = 100;
    do repeat (20) @(posedge clk); while (!idle() || !dut.flags_ready);
    repeat (20) @(posedge clk);
    `CHECK(
        under_way == 0 && lost == lost_seen && i_host.taken == writes_seen && failed == failed_seen,
        "counts differ")
    `CHECK(expired_seen + evicted_seen <= writes_seen, "more lines closed than written")
    for (int i = 0; i < $size(dut.owner_q); i++) begin
      `CHECK(
          dut.i_open.cleared_in[i] == dut.i_open.set_in[i] && dut.i_busy.cleared_in[i] == dut.i_busy.set_in[i],
          "a line is lost")
    end
    `CHECK(dut.span_q == '0, "a line is lost")
  endtask

  /// Every queue starts at the beginning of a new ring.
  task automatic restart();
    for (int q = 0; q < Queues; q++) begin
      given[q] = 0;
      epoch[q]++;
    end
  endtask

  task automatic measure(string name, int unsigned n, int unsigned percent_of_clocks,
                         int unsigned per_write_tenths);
    int unsigned records0, writes0;
    drain();
    restart();
    random_queue = 0;
    queues = n;
    max_delay = 2000;
    record_percent = 100;
    repeat (2000) @(posedge clk);
    records0 = records;
    writes0  = i_host.taken;
    repeat (4000) @(posedge clk);
    $display("%s: %0d records, %0d writes in 4000 clocks", name, records - records0,
             i_host.taken - writes0);
    `CHECK((records - records0) * 100 >= 4000 * percent_of_clocks, "too slow")
    `CHECK((i_host.taken - writes0) * per_write_tenths <= (records - records0) * 10 + 200,
           "too many writes")
    drain();
  endtask

  initial begin
    int unsigned expired0;
    @(negedge rst);
    measure("1 queue", 1, 99, 80);
    measure("8 queues", 8, 99, 80);
    measure("16 queues", 16, 99, 75);
    latency = 20;
    measure("32 queues, 20 clocks of DMA", 32, 99, 70);
    // One record a line; a line that is full at once waits for one that is closed for room.
    measure("256 queues, 20 clocks of DMA", 256, 98, 10);
    // After a pause a record goes out at once; one that follows it goes by its age, not sooner and hardly later.
    drain();
    queues = 4;
    max_delay = 100;
    repeat (300) @(posedge clk);
    for (int i = 0; i < 4; i++) begin
      max_delay = 16'(100 + 300 * i);
      restart();
      worst = 0;
      expired0 = expired_seen;
      random_queue = 1;
      record_percent = 100;
      @(posedge clk);
      record_percent = 0;
      repeat (60) @(posedge clk);
      `CHECK(idle() && worst < latency + 30, $sformatf("a single record waited %0d clocks", worst))
      record_percent = 100;
      @(posedge clk);
      record_percent = 0;
      repeat (int'(max_delay) + 400) @(posedge clk);  // a pause for the next limit, hardly longer
      `CHECK(idle() && worst >= int'(max_delay) && worst < int'(max_delay) + latency + 30,
             $sformatf("a record waited %0d clocks with a limit of %0d", worst, max_delay))
      `CHECK(expired_seen > expired0, "expiry not counted")
    end
    // Many lines open at a time: none waits longer.
    worst = 0;
    max_delay = 300;
    random_queue = 1;
    record_percent = 2;
    queues = 20;
    repeat (5000) @(posedge clk);
    `CHECK(worst < int'(max_delay) + latency + 100, $sformatf("a record waited %0d clocks", worst))
    for (int i = 0; i < 40; i++) begin
      drain();
      if ($urandom_range(1) == 0) restart();
      random_queue = 1;
      queues = 1 << $urandom_range(8);
      latency = $urandom_range(300, 1);
      jitter = $urandom_range(1) * $urandom_range(200);
      enq_latency = $urandom_range(8, 1);
      max_delay = 16'($urandom_range(1000));
      refuse_percent = $urandom_range(1) * 10;
      fail_percent = $urandom_range(1) * 10;
      record_percent = $urandom_range(100, 5);
      enq_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      commit_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      dma_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      repeat (2000) @(posedge clk);
    end
    // Rings set up anew while records wait: each record still goes where it was placed.
    // (Too few to fill a line, which would overtake the older one of its queue.)
    drain();
    restart();
    max_delay = 500;
    queues = 2;
    for (int i = 0; i < 20; i++) begin
      record_percent = 100;
      repeat ($urandom_range(7)) @(posedge clk);
      record_percent = 0;
      repeat (100) @(posedge clk);
      restart();
    end
    drain();
    // The queue manager takes no commits: everything stops, and goes on without loss.
    commit_percent = 0;
    record_percent = 100;
    repeat (2000) @(posedge clk);
    drain();
    `CHECK(lost > 100 && evicted_seen > 100 && failed > 100, "the random phase missed a case")
    $display("%0d records, %0d writes, %0d expired, %0d evicted, %0d lost", records, i_host.taken,
             expired_seen, evicted_seen, lost);
    `TB_PASS
  end
endmodule

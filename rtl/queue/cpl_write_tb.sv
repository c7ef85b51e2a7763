// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// cpl_write against models of completion queue manager, DMA write engine (250 clocks) and host memory: every record once,
/// in its place, before its commit; the delay kept; lost records counted; one record a clock and one write for eight.
module cpl_write_tb;
  import queue_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 256;
  localparam int RingSlots = 512;
  localparam ram_sel_t Sel = 5'd6;

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
  int unsigned queues = 8, latency = 250, enq_latency = 4;
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
  int unsigned
      to_commit[$], commit_queue[$];  // count and queue of each write whose status was given

  typedef struct {
    enq_rsp_t    rsp;
    int unsigned due;
  } answer_t;
  answer_t answers[$];
  typedef struct {
    dma_req_t    req;
    int unsigned due;
  } write_t;
  write_t writes[$];
  int unsigned now = 0, records = 0, lost = 0, lost_seen = 0, write_count = 0, under_way = 0;
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
    answer_t a;
    int unsigned q = int'(cq);
    record_t r = sent.pop_front();
    `CHECK(r.cq == cq, "asks for another queue's place")
    a.due = now + enq_latency;
    a.rsp.cq = cq;
    a.rsp.ok = !percent(refuse_percent);
    a.rsp.index = 16'(given[q]);
    a.rsp.phase = ((given[q] / RingSlots) & 1) == 0;
    a.rsp.addr = address(q, given[q]);
    if (a.rsp.ok) begin
      r.record[31] = a.rsp.phase;
      want[q].push_back('{record: r, addr: a.rsp.addr, born: now});
      given[q]++;
      placed++;
    end else begin
      a.rsp.addr = {$urandom(), $urandom()};
      lost++;
    end
    answers.push_back(a);
  endtask

  // The engine asks for the row, has it two clocks later, and then gives the status.
  write_t row_of[3];
  logic row_valid[3] = '{0, 0, 0};
  task automatic dma_clock();
    status <= '{valid: $urandom_range(9) == 0, sel: Sel ^ 5'd2, result: DmaAborted};
    // Data on the bus now belongs to the request of two clocks ago.
    if (row_valid[2]) begin
      dma_req_t r = row_of[2].req;
      int unsigned q = int'(r.host_addr[31:16]), n = int'(r.len) / 16;
      bit bad = percent(fail_percent);
      for (int unsigned i = 0; i < n; i++) begin
        want_t w;
        `CHECK(q < Queues && want[q].size() != 0, "more written than there is")
        w = want[q].pop_front();
        `CHECK(r.host_addr + 64'(16 * i) == w.addr, "written at the wrong place")
        `CHECK(ram_row[r.ram_addr[6:4]+3'(i)] === w.record.record, "wrong record")
        if (now - w.born > worst) worst = now - w.born;
        records++;
      end
      to_commit.push_back(n);
      commit_queue.push_back(q);
      status <= '{valid: 1'b1, sel: Sel, result: bad ? DmaUnsupported : DmaOk};
      if (bad) failed++;
    end else begin
      `CHECK(ram_row == '0, "RAM output not zero when not selected")
    end
    row_valid[2] = row_valid[1];
    row_of[2] = row_of[1];
    row_valid[1] = row_valid[0];
    row_of[1] = row_of[0];
    row_valid[0] = 0;
    ram_read.sel   <= Sel ^ 5'd2;
    ram_read.valid <= 8'($urandom());
    for (int i = 0; i < Segs; i++) ram_read.row[i] <= row_addr_t'($urandom_range(63));
    if (writes.size() != 0 && writes[0].due <= now) begin
      row_of[0] = writes.pop_front();
      row_valid[0] = 1;
      ram_read.sel   <= Sel;
      ram_read.valid <= 8'(((1 << (row_of[0].req.len >> 4)) - 1) << row_of[0].req.ram_addr[6:4]);
      for (int i = 0; i < Segs; i++) ram_read.row[i] <= row_of[0].req.ram_addr[RamAddrW-1:7];
    end
  endtask

  always @(posedge clk) begin
    now <= now + 1;
    if (rst) begin
      record.valid <= 0;
      enq_req.ready <= 0;
      enq_rsp.valid <= 0;
      commit.ready <= 0;
      dma.ready <= 0;
      status <= '0;
      ram_read <= '0;
    end else begin
      lost_seen += 32'(events.lost);
      writes_seen += 32'(events.write);
      expired_seen += 32'(events.expired);
      evicted_seen += 32'(events.evicted);
      failed_seen += 32'(events.failed);
      if (commit.valid && commit.ready && !rst) begin
        `CHECK(to_commit.size() != 0, "committed before it was written")
        `CHECK(commit.data === '{queue: queue_t'(commit_queue.pop_front()),
                               count: 4'(to_commit.pop_front())}, "wrong commit")
        committed += int'(commit.data.count);
        under_way--;
      end
      if (dma.valid && dma.ready && !rst) begin
        `CHECK(
            dma.data.sel == Sel && !dma.data.relaxed && dma.data.len[3:0] == 0 && dma.data.len != 0,
            "odd write")
        `CHECK(32'(dma.data.host_addr[6:0]) + 32'(dma.data.len) <= 128, "write leaves its block")
        writes.push_back('{req: dma.data, due: now + latency});
        write_count++;
        under_way++;
        `CHECK(under_way <= 64, "more writes than lines")
      end
      dma_clock();
      if (record.valid && record.ready && !rst) sent.push_back(record.data);
      if (enq_req.valid && enq_req.ready && !rst) enqueue(enq_req.data);
      if (enq_rsp.valid && enq_rsp.ready && !rst) void'(answers.pop_front());
      enq_rsp.valid <= answers.size() != 0 && answers[0].due <= now;
      if (answers.size() != 0) enq_rsp.data <= answers[0].rsp;
      enq_req.ready <= percent(enq_percent);
      commit.ready <= percent(commit_percent);
      dma.ready <= percent(dma_percent);
      if (!record.valid || record.ready) begin
        record.valid <= percent(record_percent);
        next_queue = random_queue ? $urandom_range(queues - 1) : (next_queue + 1) % queues;
        record.data.cq <= queue_t'(next_queue);
        record.data.record <= {$urandom(), $urandom(), $urandom(), serial};
        serial++;
      end
    end
  end

  function automatic bit idle();
    return !record.valid && sent.size() == 0 && answers.size() == 0 && committed == placed;
  endfunction

  task automatic drain();
    record_percent = 0;
    enq_percent = 100;
    commit_percent = 100;
    dma_percent = 100;
    do repeat (20) @(posedge clk); while (!idle());
    repeat (20) @(posedge clk);
    `CHECK(
        under_way == 0 && lost == lost_seen && write_count == writes_seen && failed == failed_seen,
        "counts differ")
    `CHECK(dut.open_q == '0 && dut.busy_q == '0 && dut.span_q == '0, "a line is lost")
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
    writes0  = write_count;
    repeat (4000) @(posedge clk);
    $display("%s: %0d records, %0d writes in 4000 clocks", name, records - records0,
             write_count - writes0);
    `CHECK((records - records0) * 100 >= 4000 * percent_of_clocks, "too slow")
    `CHECK((write_count - writes0) * per_write_tenths <= (records - records0) * 10 + 200,
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
    // A single record goes out by its age, not sooner and hardly later.
    drain();
    queues = 4;
    for (int i = 0; i < 4; i++) begin
      max_delay = 16'(100 + 300 * i);
      restart();
      worst = 0;
      expired0 = expired_seen;
      random_queue = 1;
      record_percent = 100;
      @(posedge clk);
      record_percent = 0;
      repeat (2000) @(posedge clk);
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
    $display("%0d records, %0d writes, %0d expired, %0d evicted, %0d lost", records, write_count,
             expired_seen, evicted_seen, lost);
    `TB_PASS
  end
endmodule

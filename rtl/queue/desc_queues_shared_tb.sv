// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// desc_queues whose queues two ports share, some of them streams. Queues that the device fills: the first doorbell of a ring has its
/// first descriptors read, and nothing else comes of doorbells; whose each slot of descriptors is is told in their order, also where reads
/// fail. Not `Filled` (desc_queues_turns_tb): turns of streams that it empties, in pages; slots of a queue are one port's at a time, doorbells are
/// told, turns are spaced while received frames wait, and slots know their index. Every slot once, in order and at the port that was granted
/// it; rings that are set up anew begin anew.
module desc_queues_shared_tb
  import queue_pkg::*, dma_pkg::*;
#(
    parameter bit Filled = 1'b1
);
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 6;
  localparam int Rings = 4;  // queues behind them are streams
  localparam int Ports = 2;
  localparam int Jobs = 32;
  localparam int Room = Filled ? 0 : 32;
  localparam int Slots = 300;  // of each ring, in each of two rounds
  localparam int Frames = 60;  // of each stream at the least, or turns
  localparam ram_sel_t Sel = 6'd3;

  reg_if regs ();
  `STREAM_ON(fetch_req_t, request[Ports], clk, rst)
  `STREAM_ON(fetch_granted_t, granted[Ports], clk, rst)
  `STREAM_ON(fetch_desc_t, desc[Ports], clk, rst)
  `STREAM_ON(commit_t, commit[Ports], clk, rst)
  `STREAM_ON(queue_error_t, stop[Ports], clk, rst)
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  `STREAM_ON(port_t, order, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  dma_status_t status;
  ram_write_t ram;
  port_tells_t [Ports-1:0] ports;
  logic streams, refused;
  logic [31:0] slots;
  desc_queues #(
      .Queues(Queues),
      .Ports(Ports),
      .Slots(32),
      .Jobs(Jobs),
      .Room(Room),
      .Streams(Filled ? StreamsFilled : StreamsEmptied),
      .Shared(1'b1),
      .Sel(Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .request,
      .granted,
      .desc,
      .commit,
      .stop,
      .order,
      .doorbell,
      .error,
      .refused_o(refused),
      .streams_o(streams),
      .slots_o(slots),
      .line_i('0),
      .push_store_o(),
      .ports_i(ports),
      .pushes_o(),
      .dma,
      .status_i(status),
      .ram_i(ram)
  );

  int unsigned fail_percent = 0, order_percent = 80, desc_percent[Ports] = '{default: 75};
  `DMA_HOST_READ(i_host, Sel, dma, 80, 1, 40, fail_percent)
  `STREAM_CHECK(port_t, i_order, order, order_percent)
  logic [31:0] rdata;  // of the last access
  `REG_MASTER(24, i_regs, regs)
  assign doorbell.ready = 1'b1;
  assign error.ready = 1'b1;

  // Of a queue: slots or granules made, handed out and freed; ended: slots, frames or turns that came and are committed; and what
  // is under way of it, which port's.
  int unsigned made[Queues], handed[Queues], freed[Queues], ended[Queues], under_way[Queues];
  int unsigned owner[Queues];
  int unsigned reads[Queues], rings[Queues];  // of its descriptors, of its doorbell
  dma_req_t last_read;
  int unsigned round = 0, errors = 0, most_slots = 0, failed = 0, changes = 0, empties = 0;
  bit running = 0;
  int first_of = -1;  // the queue of which one slot is asked for

  function automatic bit is_stream(int unsigned q);
    return q >= Rings;
  endfunction

  function automatic int unsigned log_block(int unsigned q);
    return is_stream(q) ? 0 : q % 3;
  endfunction

  function automatic int unsigned log_size(int unsigned q);
    return !is_stream(q) ? 4 : q == Rings ? 6 : Filled ? 10 : 13;
  endfunction

  function automatic logic [63:0] base(int unsigned q);
    return 64'h1_0000_0000 * 64'(q + 1) + 64'((round * 64 + q) * 4096);
  endfunction

  // Where slot or granule `n` lies.
  function automatic logic [63:0] place(int unsigned q, int unsigned n);
    int unsigned size = 1 << log_size(q), at = n % size;
    if (Filled && is_stream(q)) at = size - 1 - at;
    return base(q) + 64'((at << log_block(q)) * GranuleBytes);
  endfunction

  function automatic desc_t made_of(int unsigned q, int unsigned n, int unsigned part);
    desc_t d;
    d = '0;
    d.len = 16'(n % 1500 + 1);
    d.addr = {16'(round + 1), 8'(q), 8'(part), 32'(n)};
    return d;
  endfunction

  // Descriptors of a slot; a packet that has fewer than there is room for is ended by one of length 0.
  function automatic int unsigned parts(int unsigned q, int unsigned n);
    return 1 + n % (1 << log_block(q));
  endfunction

  always @(posedge clk)
    if (!rst) begin
      if (dma.valid && dma.ready) begin
        reads[32'(dma.data.host_addr>>32)-1]++;
        last_read = dma.data;
      end
      if (doorbell.valid) rings[32'(doorbell.data)]++;
      `CHECK(!Filled || !doorbell.valid, "a doorbell of a queue that the device fills")
      `CHECK(Filled || !order.valid, "an order of queues that the device empties")
      if (slots > most_slots) most_slots = slots;
      errors += int'(error.valid);
      `CHECK(!refused, "a register was refused")
    end

  // How long it is that a request has passed, and whether the last answer was a turn: one whose answer is known waits for its time,
  // but one that was shown before.
  logic [Ports-1:0] passes;
  int unsigned
      since = 0,
      since_answer = 0,
      pressed_for = 0,
      unanswered = 0,
      spaced = 0,
      early = 0,
      at_once = 0;
  bit turn = 0;
  always @(posedge clk) begin
    since++;
    since_answer++;
    pressed_for = ports[1].crowded ? pressed_for + 1 : 0;
    if (passes != '0) begin
      if (!Filled && pressed_for > 140 && unanswered == 0) begin
        if (turn && since >= 128) spaced++;
        else if (turn) begin
          `CHECK(since_answer < 16, "a turn right behind another")
          early++;
        end else if (since < 32) at_once++;
      end
      since = 0;
      unanswered++;
    end
    if (rst) unanswered = 0;
  end

  typedef struct {
    int unsigned queue,  slot, count;  // slots that are to come, from this one on
    deq_status_e status;
  } expected_t;

  deq_req_t asked[Ports][$];
  expected_t expected[Ports][$];
  int unsigned
      committed[Ports][$];  // queues of slots and of frames; of pages before a turn's last `Queues`
  int unsigned part[Ports];
  fetch_req_t requests[Ports][$];  // that are to go, and commits
  commit_t commits[Ports][$];

  function automatic void ask(int unsigned p, int unsigned q, int unsigned most);
    deq_req_t r = '{
        queue: queue_t'(q),
        max: 4'(most),
        granules: granules_t'($urandom_range(40, 1))
    };
    requests[p].push_back('{port: port_t'(p), req: r});
    asked[p].push_back(r);
  endfunction

  function automatic void take_granted(int unsigned p, granted_t g);
    deq_req_t r;
    int unsigned q = 32'(g.queue), in_block;
    `CHECK(asked[p].size() != 0 && asked[p][0].queue == g.queue, "a grant of another port")
    r = asked[p].pop_front();
    expected[p].push_back('{queue: q, slot: handed[q], count: 32'(g.count), status: g.status});
    if (g.status != DeqOk) begin
      `CHECK(g.status == DeqEmpty && g.count == 0 && !g.more, "more than nothing")
      empties++;
      return;
    end
    if (under_way[q] != 0 && owner[q] != p) begin
      `CHECK(Filled, "slots of two ports are under way")
      changes++;
    end else if (owner[q] != p) changes++;
    owner[q] = p;
    under_way[q] += 32'(g.count);
    if (is_stream(q)) begin
      `CHECK(g.count == 1, "not one frame or turn")
      if (Filled) handed[q] += 32'(r.granules);
    end else begin
      in_block = (8 >> log_block(q)) - handed[q] % (8 >> log_block(q));
      `CHECK(g.count != 0 && g.count <= r.max && 32'(g.count) <= in_block, "too many slots")
      handed[q] += 32'(g.count);
      if (Filled) repeat (g.count) i_order.expected.push_back(port_t'(p));
    end
    `CHECK(handed[q] <= made[q] && (!g.more || !(Filled || q < Rings) || handed[q] < made[q]),
           "more than there are")
  endfunction

  function automatic void ends(int unsigned p, int unsigned q, int unsigned count);
    commits[p].push_back('{queue: queue_t'(q), count: 9'(count)});
    committed[p].push_back(q);
    expected[p][0].slot++;
    expected[p][0].count--;
    if (expected[p][0].count == 0) void'(expected[p].pop_front());
  endfunction

  // A page of a turn.
  function automatic void take_page(int unsigned p, int unsigned q, desc_beat_t b);
    int unsigned n = 32'(b.desc.len) / GranuleBytes;
    `CHECK(b.desc.addr == place(q, handed[q]), "not the turn's next page")
    `CHECK(
        n != 0 && 32'(b.desc.len) % GranuleBytes == 0 &&
           handed[q] / PageGranules == (handed[q] + n - 1) / PageGranules,
        "not a page or less")
    handed[q] += n;
    `CHECK(handed[q] <= made[q] && b.desc.slot == 16'(handed[q]), "more than there is")
    `CHECK(b.ends || handed[q] % PageGranules == 0, "not a whole page")
    `CHECK(b.ends || handed[q] % TurnGranules != 0 && handed[q] % (1 << log_size(q)) != 0,
           "a turn too long")
    if (b.ends) ends(p, q, n);
    else begin
      commits[p].push_back('{queue: queue_t'(q), count: 9'(n)});
      committed[p].push_back(Queues);
    end
  endfunction

  function automatic void take_beat(int unsigned p, fetch_desc_t beat);
    desc_beat_t b = beat.beat;
    int unsigned q, n;
    `CHECK(expected[p].size() != 0 && beat.port == port_t'(p), "a descriptor of another port")
    q = expected[p][0].queue;
    n = expected[p][0].slot;
    `CHECK(b.queue == queue_t'(q) && b.status == expected[p][0].status && !b.inlined,
           "a descriptor of another queue")
    if (b.status != DeqOk) begin
      `CHECK(b.last, "more than nothing")
      void'(expected[p].pop_front());
      return;
    end
    `CHECK(b.cq == queue_t'(20 + q) && b.stream == is_stream(q), "of another completion queue")
    if (is_stream(q)) begin
      `CHECK(b.last && b.result == DmaOk && b.index == '0, "not a place in a stream")
      if (!Filled) take_page(p, q, b);
      else begin
        `CHECK(b.ends && b.desc.addr == place(q, n), "not the frame's place")
        ends(p, q, 1);
      end
      return;
    end
    `CHECK(b.index == (Filled ? '0 : 16'(n)), "not its index")
    if (b.result == DmaOk) begin
      `CHECK(b.desc == made_of(q, n, part[p]), "lost, doubled or reordered")
      part[p]++;
      `CHECK(b.last == (part[p] == parts(q, n)), "not a whole slot")
    end else begin
      `CHECK(b.last && part[p] == 0 && fail_percent != 0, "a failure")
      failed++;
    end
    if (b.last) begin
      part[p] = 0;
      ends(p, q, 1);
    end
  endfunction

  for (genvar p = 0; p < Ports; p++) begin : g_port
    assign granted[p].ready = 1'b1;
    assign passes[p] = request[p].valid && request[p].ready;
    `STREAM_SOURCE(fetch_req_t, i_request, request[p], 60)
    `STREAM_SINK(fetch_desc_t, i_desc, desc[p], desc_percent[p])
    `STREAM_SOURCE(commit_t, i_commit, commit[p], 50)
    `STREAM_SOURCE(queue_error_t, i_stop, stop[p], 100)
    always @(posedge clk)
      if (!rst) begin
        if (running && asked[p].size() < 2 && i_order.expected.size() <= Ports * Jobs)
          ask(p, $urandom_range(Queues - 1), $urandom_range(8, 1));
        if (first_of >= 0 && first_of % Ports == p) begin
          ask(p, 32'(first_of), 1);
          first_of = -1;
        end
        if (granted[p].valid) begin
          `CHECK(granted[p].data.port == port_t'(p), "a grant of another port")
          take_granted(p, granted[p].data.granted);
          turn = granted[p].data.granted.status == DeqOk && granted[p].data.granted.queue >= Rings;
          unanswered--;
          since_answer = 0;
        end
        if (desc[p].valid && desc[p].ready) take_beat(p, desc[p].data);
        if (commit[p].valid && commit[p].ready) begin
          automatic int unsigned q = committed[p].pop_front();
          if (q < Queues) begin
            under_way[q]--;
            ended[q]++;
          end
        end
        while (requests[p].size() != 0) i_request.queue.push_back(requests[p].pop_front());
        while (commits[p].size() != 0) i_commit.queue.push_back(commits[p].pop_front());
      end
  end

  // The ports stand still at times, as do who takes the order and what is received.
  always @(posedge clk)
    if ($urandom_range(199) == 0) begin
      for (int p = 0; p < Ports; p++) desc_percent[p] = $urandom_range(3) == 0 ? 0 : 90;
      order_percent = $urandom_range(3) == 0 ? 0 : $urandom_range(1) == 0 ? 30 : 90;
    end
  always @(posedge clk)
    if ($urandom_range(1499) == 0) begin
      ports <= '0;
      if ($urandom_range(2) != 0) begin
        ports[1].crowded <= 1;
        ports[0].pressed <= 1'($urandom());
      end
    end
  initial ports = '0;

  // Of the places for descriptors all that are not in use.
  logic [Ports-1:0] back;
  for (genvar p = 0; p < Ports; p++) begin : g_back
    if (Room != 0) begin : g_room
      assign back[p] = 32'(dut.g_room.i_room.g_port[p].free_q) == Room;
    end else begin : g_none
      assign back[p] = 1'b1;
    end
  end

  task automatic access (bit writes, int unsigned q, logic [2:0] word, logic [31:0] value);
    i_regs.access(writes, 24'(q * 32 + 32'(word) * 4), value, '1);
    rdata = i_regs.rdata;
  endtask

  task automatic set_up(int unsigned q);
    logic [63:0] at;
    logic [31:0] sizes;
    at = base(q);
    sizes = 32'(log_block(q) << 8) | 32'(log_size(q) << 4);
    if (round != 0) access (1, q, QRegControl, sizes);
    access (1, q, QRegBaseLo, at[31:0] | 32'(is_stream(q)));
    access (1, q, QRegBaseHi, at[63:32]);
    access (1, q, QRegCq, 32'(20 + q));
    access (1, q, QRegControl, sizes | 32'd1);
    {made[q], handed[q], freed[q], ended[q], reads[q], rings[q]} = '0;
  endtask

  // The device has finished, or of a stream that it fills taken, so many.
  task automatic consumer(int unsigned q);
    access (0, q, QRegConsumer, '0);
    freed[q] += 32'(16'((Filled && is_stream(q) ? rdata[31:16] : rdata[15:0]) - 16'(freed[q])));
    `CHECK(freed[q] <= handed[q] || Filled && is_stream(q), "more than there were")
  endtask

  task automatic offer(int unsigned q, int unsigned n);
    for (int unsigned i = 0; i < n; i++) begin
      if (!is_stream(q))
        for (int unsigned s = 0; s < 1 << log_block(q); s++)
        i_host.memory[place(q, made[q])/16+64'(s)] = s < parts(q, made[q]) ?
            made_of(q, made[q], s) : '0;
      made[q]++;
    end
    access (1, q, QRegProducer, made[q]);
  endtask

  // A first doorbell, and one slot of what it has offered.
  task automatic first(int unsigned q);
    int unsigned n;
    n = is_stream(q) ? 50 : $urandom_range(8 >> log_block(q), 2);
    offer(q, n);
    repeat (150) @(posedge clk);
    `CHECK(rings[q] == 32'(!Filled), "a doorbell that is not told")
    `CHECK(reads[q] == 32'(Filled && !is_stream(q)), "a first doorbell has read otherwise")
    if (Filled && !is_stream(q))
      `CHECK(last_read.host_addr == base(q) && 32'(last_read.len) == n << (4 + log_block(q)),
             "not what is offered is read")
    first_of = q;
    while (ended[q] == 0) @(posedge clk);
    `CHECK(reads[q] == 32'(!is_stream(q)), "what was read is read again")
  endtask

  function automatic bit done();
    for (int unsigned q = 0; q < Queues; q++)
    if (is_stream(q) ? ended[q] < Frames : freed[q] < Slots) return 0;
    return 1;
  endfunction

  task automatic traffic();
    int unsigned q, n, left;
    while (!done()) begin
      q = $urandom_range(Queues - 1);
      consumer(q);
      left = (1 << log_size(q)) - (made[q] - freed[q]);
      if (!is_stream(q) && left > Slots - made[q]) left = Slots - made[q];
      n = $urandom_range(is_stream(q) ? Filled ? 200 : $urandom_range(1) * 3000 + 10 : 6);
      offer(q, n < left ? n : left);
    end
  endtask

  initial begin
    @(negedge rst);
    `CHECK(slots == 0 && !streams, "slots or a stream after a reset")
    repeat (Queues + 4) @(posedge clk);
    for (round = 0; round < 2; round++) begin
      fail_percent = 0;
      for (int unsigned q = 0; q < Queues; q++) begin
        set_up(q);
        first(q);
        `CHECK(streams == (round != 0 || q >= Rings), "a stream that there is not")
      end
      fail_percent = 4;
      running = 1;
      traffic();
      running = 0;
      repeat (3000) @(posedge clk);
      for (int unsigned q = 0; q < Queues; q++) begin
        consumer(q);
        `CHECK(under_way[q] == 0 && freed[q] == handed[q], "not all is finished")
        `CHECK(is_stream(q) || handed[q] == Slots, "not every slot")
      end
      `CHECK(expected[0].size() + expected[1].size() == 0, "descriptors are lost")
      `CHECK(i_order.expected.size() == 0, "whose a slot is was not told")
      `CHECK(slots == 0 && back == '1, "slots or places are not back")
    end
    `CHECK(most_slots > 8 && changes > 100 && empties > 10 && failed > 10, "too little happened")
    `CHECK(Filled || (spaced > 2 * early && spaced > 8 && at_once > 10),
           "no turns spaced, or slots too")
    `CHECK(errors == 0, "an error")
    g_port[1].i_stop.queue.push_back('{queue: queue_t'(3), code: ErrNullAddress});
    repeat (50) @(posedge clk);
    access (0, 3, QRegControl, '0);
    `CHECK(errors == 1 && rdata[1] && rdata[23:16] == ErrNullAddress, "not stopped")
    `TB_PASS
  end
endmodule

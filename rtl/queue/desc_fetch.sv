// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Descriptor fetch: dequeues slots of descriptor queues and brings their descriptors (host-nic paper, section II-C).
///
/// Each `req` becomes a dequeue. What it found goes to `granted` at once; the descriptors follow on `desc`, all in the order
/// of the requests. A request that found nothing is one beat without descriptor. A read fetches what is asked for, and all that is
/// ready in its block of 128 bytes if one of the queue's blocks is still here; requests for the rest of the block are served
/// from it without another read (`Slots` blocks are kept, replaced oldest first, never while a request waits on them). When the last
/// of a block is served from it, what is ready in the next one is read, in a clock in which nothing else is; and with `Peeks` a queue's
/// first block when its first doorbell rings. So a queue in use does not wait for its descriptors, and one that comes back only after
/// `Slots` others costs no unused bytes, or few.
/// A descriptor of length 0, unless first, ends its packet and is left out. What push_table has `found_i` for a slot is taken in place
/// of a read. With `Streams` a slot of a stream queue is a beat that says where it lies, without a read; a turn one for each page of 4096
/// bytes that it touches. A failed read gives one beat a packet, `last`, with the error in `result` and undefined `desc`.
/// Throughput one request, one read and one descriptor a clock while at most `Jobs` requests are under way; latency about 8
/// clocks, the queue manager and the DMA not counted. Full back-pressure; answers of the queue manager, statuses and RAM
/// writes are always taken. Reset forgets everything. Counts in `events_o`, drops nothing.
///
/// With `Functions` each has its share of the queues, in their order: addresses of descriptors have 52 bits, say whose they are (pcie_pkg), and
/// are taken for null where they have more.
/// `desc` is one stream for all ports: an engine asks only for what it has room for, or it holds up the others.
/// A ring set up anew must start at index 0: that is how blocks read before are known to be stale, and why index 0 is never
/// served from one, unless a peek at this very ring has had it read. A peek (a dequeue of none) goes before requests, is none of them,
/// and is given up when there is no room for its answer or its read.
/// The host does not change descriptors behind the doorbell, and leaves a ring's memory alone for as long as a read
/// takes after the queue's last slot.
module desc_fetch
  import queue_pkg::*;
  import dma_pkg::*;
#(
    parameter int Queues = 1024,
    parameter int Slots = 128,  // blocks kept or being read, a power of two
    parameter int Ports = 1,
    parameter int Jobs = 512,  // requests waiting for their descriptors
    parameter streams_t Streams = StreamsNone,
    parameter bit Peeks = 1'b0,
    parameter bit Indexed = 1'b0,  // beats of descriptors tell their slot's index; with StreamsEmptied
    parameter int Functions = 1,
    parameter ram_sel_t Sel = '0
) (
    input  logic          clk_i,
    input  logic          rst_i,
    // Queues whose first block is to be read (queue_t), with `Peeks`; never waits for an engine.
           stream_if.snk  ring,
    // Engines: requests (fetch_req_t), what they found (fetch_granted_t), descriptors (fetch_desc_t).
           stream_if.snk  req,
           stream_if.src  granted,
           stream_if.src  desc,
    // Queue manager (deq_req_t, deq_rsp_t). Room for each answer is kept before asking.
           stream_if.src  deq_req,
           stream_if.snk  deq_rsp,
    // push_table.
    output push_look_t    look_o,
    input  push_found_t   found_i,
    // DMA read engine (dma_req_t); statuses and writes of other clients are ignored.
           stream_if.src  dma,
    input  dma_status_t   status_i,
    input  ram_write_t    ram_i,
    // Pulses for counters.
    output fetch_events_t events_o
);
  localparam int SlotW = $clog2(Slots);
  localparam int QueueW = Queues > 1 ? $clog2(Queues) : 1;
  localparam int Window = 32;  // dequeues under way
  localparam int WindowW = $clog2(Window + 1);
  localparam int DirectDepth = 2 * PushEntries;
  localparam int DirectW = $clog2(DirectDepth + 1);
  localparam int LaneW = 32;  // bits of a descriptor that are written together, as a completion has them
  localparam int Lanes = $bits(desc_t) / LaneW;
  localparam int LenLane = 2;  // with its length
  // A slot is used at most 8 times, and at most 2 * Slots of them between its allocation and its next one.
  localparam int UseW = $clog2(16 * Slots + Jobs) + 2;

  if (Slots < 2 || 2 ** SlotW != Slots || Slots * RowBytes > 2 ** RamAddrW) begin : g_bad_slots
    $fatal(1, "desc_fetch: Slots %0d is not a power of two that fits a DMA RAM", Slots);
  end
  if (Ports < 1 || Ports > 4 || Jobs < 2 || (Indexed && Streams != StreamsEmptied)) begin : g_bad_parameter
    $fatal(1, "desc_fetch: Ports %0d is not 1 ... 4, Jobs %0d below 2, or Indexed", Ports, Jobs);
  end

  localparam bit Turns = Streams == StreamsEmptied;
  /// Where a stream's slot lies, in granules; of a turn also how many, and its index in the ring.
  typedef struct packed {
    ring_ptr_t   index;
    turn_t       granules;
    logic [59:0] addr;
  } place_t;
  localparam int PlaceW = Turns ? $bits(place_t) : Streams == StreamsFilled ? 60 : 1;
  typedef logic [SlotW-1:0] slot_t;
  typedef logic [UseW-1:0] use_t;

  // What the queue's last block has left: `left` slots from descriptor `pos` on.
  typedef struct packed {
    slot_t      slot;
    logic [2:0] pos;
    logic [3:0] left;
  } hint_t;

  typedef struct packed {
    port_t    port;
    deq_rsp_t rsp;
  } found_t;

  typedef struct packed {
    push_entry_t entry;
    desc_t       desc;
  } direct_t;

  // What may be read of a queue's next block: `left` slots from its start on.
  typedef struct packed {
    queue_t      queue;
    logic [3:0]  left;
    logic [1:0]  log_block;
    logic [56:0] block;      // host address
  } ahead_t;

  // A request on its way to its descriptors.
  typedef struct packed {
    port_t             port;
    queue_t            queue;
    queue_t            cq;
    deq_status_e       status;
    logic              direct;     // its descriptor is in i_direct
    slot_t             slot;
    logic [2:0]        pos;
    logic [3:0]        count;
    logic [1:0]        log_block;
    logic              stream;
    logic [PlaceW-1:0] place;      // of a stream: place_t
  } job_t;

  // ---- Dequeue: the answer's place in both FIFOs is kept from the request on.
  `STREAM(port_t, asked_in)
  `STREAM(port_t, asked)
  `STREAM(found_t, found_in)
  `STREAM(found_t, found)
  `STREAM(fetch_granted_t, granted_in)
  `FIFO(port_t, Window, i_asked, asked_in, asked)
  `FIFO(found_t, Window, i_found, found_in, found)
  `FIFO(fetch_granted_t, Window, i_granted, granted_in, granted)

  // Those asked, with those found, or granted, that wait. Counted here: the FIFOs' counts would be two sums later.
  logic [WindowW-1:0] to_find_q, to_grant_q;
  wire  room = to_find_q != WindowW'(Window) && to_grant_q != WindowW'(Window);
  logic held_q;  // a request is offered and not yet taken
  wire  peek = Peeks && ring.valid && !held_q;
  assign deq_req.valid = (peek || req.valid) && room;
  assign deq_req.data = peek ? '{queue: ring.data, max: '0, granules: '0} : req.data.req;
  assign req.ready = room && deq_req.ready && !peek;
  assign ring.ready = !room || (peek && deq_req.ready);
  always_ff @(posedge clk_i) held_q <= !rst_i && req.valid && room && !peek && !deq_req.ready;
  wire asks_now = deq_req.valid && deq_req.ready;
  assign asked_in.valid = asks_now;
  assign asked_in.data  = req.data.port;

  wire answer = deq_rsp.valid && asked.valid;
  assign deq_rsp.ready = asked.valid;
  assign asked.ready   = deq_rsp.valid;
  always_ff @(posedge clk_i) begin
    to_find_q <= to_find_q + WindowW'(asks_now) - WindowW'(found.valid && found.ready);
    to_grant_q <= to_grant_q + WindowW'(asks_now) -
        WindowW'(granted.valid && granted.ready) - WindowW'(answer && deq_rsp.data.peek);
    if (rst_i) {to_find_q, to_grant_q} <= '0;
  end
  assign found_in.valid = answer;
  assign found_in.data = '{port: asked.data, rsp: deq_rsp.data};
  assign granted_in.valid = answer && !deq_rsp.data.peek;
  assign granted_in.data = '{
          port: asked.data,
          granted: '{
              queue: deq_rsp.data.queue,
              status: deq_rsp.data.status,
              count: deq_rsp.data.count,
              more: deq_rsp.data.more
          }
      };

  // ---- Two stages: look the queue's hint up, then choose the slot.
  queue_t owner_q[Slots];
  slot_t alloc_q;
  logic wrapped_q;  // every slot has been used since reset
  logic look_valid_q, pick_valid_q, written_valid_q;
  found_t look_q, pick_q;
  hint_t hint_ram, hint_old, hint_look, hint_q, hint_next, written_hint_q;
  logic   ok_q;  // there are descriptors
  queue_t written_queue_q;
  logic go, ahead_go, reads_block, here_q, fits_q;
  ahead_t   ahead_q;
  deq_rsp_t rsp;
  assign rsp = pick_q.rsp;
  wire stream = Streams != StreamsNone && rsp.stream;
  wire peeks = Peeks && rsp.peek;
  // The ring's first block is to be read: what is known of a block is of the ring before.
  wire peek_first = pick_valid_q && peeks && rsp.status == DeqOk && rsp.index == '0;

  wire step = !pick_valid_q || go || peeks;
  wire hint_we = ahead_go || (go && ok_q) || peek_first;
  wire queue_t hint_queue = pick_valid_q ? rsp.queue : ahead_q.queue;
  assign found.ready = step;

  ram_sdp #(
      .Width($bits(hint_t)),
      .Depth(Queues)
  ) i_hint (
      .clk_i,
      .we_i(hint_we),
      .waddr_i(hint_queue[QueueW-1:0]),
      .wdata_i(hint_next),
      .re_i(step && found.valid),
      .raddr_i(found.data.rsp.queue[QueueW-1:0]),
      .rdata_o(hint_ram)
  );

  // The RAM does not show the write of this clock, nor that of the clock in which it was read. A write is with a step.
  logic
      written_q,
      follows_q;  // what was written last, or what is chosen now, is of the queue looked up
  wire queue_t next_queue = found.data.rsp.queue;
  wire writing = pick_valid_q && (ok_q || peek_first) && follows_q;
  assign hint_old  = written_q ? written_hint_q : hint_ram;
  assign hint_look = writing ? hint_next : hint_old;

  always_ff @(posedge clk_i) begin
    if (step) begin
      look_valid_q <= found.valid;
      look_q <= found.data;
      pick_valid_q <= look_valid_q;
      pick_q <= look_q;
      hint_q <= hint_look;
      written_q <= hint_we ? hint_queue == next_queue : written_valid_q && written_queue_q == next_queue;
      follows_q <= look_q.rsp.queue == next_queue;
    end
    if (hint_we) begin
      written_valid_q <= 1'b1;
      written_queue_q <= hint_queue;
      written_hint_q  <= hint_next;
    end
    if (rst_i) begin
      look_valid_q <= 1'b0;
      pick_valid_q <= 1'b0;
      written_valid_q <= 1'b0;
    end
  end

  // ---- Slots, used in turn (alloc_q). One may be taken when the last request that uses it has left.
  use_t last_use_q[Slots];
  dma_result_e result_q[Slots];
  slot_t done_q;
  logic [SlotW:0] reading_q;  // slots done_q ... alloc_q - 1 wait for their status
  use_t issued_q, left_q;  // uses of slots begun and ended

  wire [2:0] pos = rsp.addr[6:4];
  wire [2:0] next_pos = pos + 3'(rsp.count << rsp.log_block);
  wire [3:0] ahead = here_q ? rsp.ahead : '0;
  // A block known to have failed is read again.
  logic usable_q;
  wire hit = fits_q && here_q && usable_q;
  logic [DirectW-1:0] directs_q;  // in i_direct
  wire pushed = found_i.valid && directs_q != DirectW'(DirectDepth);
  wire direct = ok_q && !hit && pushed;
  wire miss = ok_q && !hit && !pushed;
  assign reads_block = ahead_go || (go && miss);
  // Whether a block is still to come, or is good, in the next clock.
  wire ended = status_i.valid && status_i.sel == Sel;
  function automatic logic usable(slot_t slot, dma_result_e result);
    slot_t at;
    at = slot - done_q;
    return ended && at == '0 ? status_i.result == DmaOk : {1'b0, at} < reading_q || result == DmaOk;
  endfunction
  wire stays_usable = usable(hint_q.slot, result_q[hint_q.slot]);
  wire old_usable = usable(hint_old.slot, result_q[hint_old.slot]);
  always_ff @(posedge clk_i)
    usable_q <= !step ? stays_usable : !writing ? old_usable : hit ? stays_usable : 1'b1;
  // The hint is the queue's own only if the slot still is. A block that is to be read is, if there is a step.
  wire goes = (ahead_go || (pick_valid_q && miss)) && hint_old.slot == alloc_q;
  // Whether the hint is of what is asked for: position and index tell a ring that was started again. Where it follows from the
  // choice in this clock, that is worked out for each outcome.
  wire has_descriptors = look_q.rsp.status == DeqOk && !(Streams != StreamsNone && look_q.rsp.stream) &&
      !(Peeks && look_q.rsp.peek);
  wire restarted = look_q.rsp.index == '0 && !(Peeks && look_q.rsp.peeked);
  wire [2:0] look_pos = look_q.rsp.addr[6:4];
  wire fits_old = hint_old.pos == look_pos && hint_old.left >= look_q.rsp.count;
  wire fits_hit = hint_q.left - rsp.count >= look_q.rsp.count;
  wire fits_miss = ahead >= look_q.rsp.count;
  wire fits_next = next_pos == look_pos && !peeks && (hit ? fits_hit : !pushed && fits_miss);
  always_ff @(posedge clk_i) begin
    if (step) begin
      here_q <= writing ? !direct : !goes && (wrapped_q || hint_old.slot < alloc_q) &&
          owner_q[hint_old.slot] == look_q.rsp.queue;
      fits_q <= has_descriptors && !restarted && (writing ? fits_next : fits_old);
      ok_q <= has_descriptors;
    end
  end
  wire slot_t slot = hit ? hint_q.slot : alloc_q;
  // Whether the next slot is free is known a clock ahead; once it is, only a hit makes it used. One that is read ahead has no request
  // that waits on it, and is free when its read has ended.
  wire slot_t after_alloc = alloc_q + 1'b1;
  wire use_t past_use = left_q - last_use_q[alloc_q] - use_t'(1);  // negative while in use
  wire use_t past_next = left_q - last_use_q[after_alloc] - use_t'(1);
  wire all_read = reading_q == (SlotW + 1)'(Slots);
  wire most_read = reading_q == (SlotW + 1)'(Slots - 1);
  logic slot_free;
  always_ff @(posedge clk_i) begin
    slot_free <= !wrapped_q || (!past_use[UseW-1] && !(all_read && !ended));
    if (go && hit && slot == alloc_q) slot_free <= 1'b0;
    if (reads_block)
      slot_free <= !(wrapped_q || alloc_q == '1) || (!past_next[UseW-1] && !(most_read && !ended));
    if (rst_i) slot_free <= 1'b1;
  end
  wire [3:0] fetched = rsp.count + ahead;
  wire [3:0] fetched_desc = fetched << rsp.log_block;

  `STREAM(direct_t, direct_in)
  `STREAM(direct_t, direct_out)
  `STREAM(job_t, jobs_in)
  `STREAM(job_t, jobs)
  `STREAM(dma_req_t, dma_in)

  assign go = jobs_in.valid && jobs_in.ready;
  // Offered only when it is taken: until then an answer may turn a hit into a miss.
  assign jobs_in.valid = pick_valid_q && !peeks && jobs_in.ready && (!miss || (slot_free && dma_in.ready));
  `STREAM_DATA(jobs_in, '{port: pick_q.port, queue: rsp.queue, cq: rsp.cq, status: rsp.status,
                        direct: direct, slot: slot, pos: pos, count: rsp.count,
                        log_block: rsp.log_block, stream: stream,
                        place: PlaceW'({rsp.index, rsp.granules, rsp.addr[63:4]})})
  assign dma_in.valid = ahead_go || (pick_valid_q && miss && slot_free && jobs_in.ready);
  `STREAM_DATA(dma_in, '{host_addr: ahead_go ? {ahead_q.block, 7'd0} : rsp.addr, sel: Sel,
                       ram_addr: ram_addr_t'({alloc_q, ahead_go ? 3'd0 : pos, 4'b0}),
                       len: {8'b0, ahead_go ? ahead_q.left << ahead_q.log_block : fetched_desc,
                              4'b0}, relaxed: 1'b0})
  always_comb begin
    hint_next.slot = slot;
    hint_next.pos  = next_pos;
    hint_next.left = direct || peeks ? '0 : hit ? hint_q.left - rsp.count : ahead;
    if (ahead_go) hint_next = '{slot: alloc_q, pos: '0, left: ahead_q.left};
  end

  // ---- Reading ahead, in a clock without a request to choose for; given up when the queue asks before.
  logic ahead_valid_q;
  wire  asks = (look_valid_q && look_q.rsp.queue == ahead_q.queue) || pick_valid_q;
  assign ahead_go = ahead_valid_q && !asks && slot_free && dma_in.ready;
  // From a block to the next one, in blocks: back to the start behind the ring's last.
  wire  [ 3:0] log_blocks = rsp.log_size + 4'(rsp.log_block) - 4'd3;
  logic [56:0] to_next;
  assign to_next = !rsp.wraps ? 57'd1 : log_blocks == '0 ? '0 : ('1 << log_blocks) | 57'd1;
  always_ff @(posedge clk_i) begin
    if (ahead_go || (pick_valid_q && rsp.queue == ahead_q.queue)) ahead_valid_q <= 1'b0;
    if (go && hit && hint_next.left == '0 && rsp.next != '0) begin
      ahead_valid_q <= 1'b1;
      ahead_q <= '{
          queue: rsp.queue,
          left: rsp.next,
          log_block: rsp.log_block,
          block: rsp.addr[63:7] + to_next
      };
    end
    if (peek_first) begin
      ahead_valid_q <= 1'b1;
      ahead_q <= '{
          queue: rsp.queue,
          left: rsp.ahead,
          log_block: rsp.log_block,
          block: rsp.addr[63:7]
      };
    end
    if (rst_i) ahead_valid_q <= 1'b0;
  end

  `SPILL(dma_req_t, i_dma, dma_in, dma)
  `DEEP_FIFO(job_t, Jobs, i_jobs, jobs_in, jobs)
  `FIFO(direct_t, DirectDepth, i_direct, direct_in, direct_out)
  assign direct_in.valid = go && direct;
  assign direct_in.data  = '{entry: found_i.entry, desc: found_i.desc};
  always_ff @(posedge clk_i) begin
    directs_q <= directs_q + DirectW'(direct_in.valid) - DirectW'(direct_out.valid && direct_out.ready);
    if (rst_i) directs_q <= '0;
  end
  assign look_o = '{
          step: step,
          valid: look_valid_q && has_descriptors,
          single: look_q.rsp.count == 4'd1 && look_q.rsp.ahead == '0 && look_q.rsp.log_block == '0,
          queue: look_q.rsp.queue,
          index: look_q.rsp.index,
          used: direct
      };

  wire  reads = jobs.data.status == DeqOk && !jobs.data.direct && !jobs.data.stream;  // a block
  logic take;

  always_ff @(posedge clk_i) begin
    // Of a block read ahead: all that went before.
    if (ahead_go || (go && ok_q && !direct))
      last_use_q[ahead_go?alloc_q : slot] <= issued_q - use_t'(ahead_go);
    if (go && ok_q && !direct) issued_q <= issued_q + 1'b1;
    if (reads_block) begin
      owner_q[alloc_q] <= hint_queue;
      alloc_q <= alloc_q + 1'b1;
      if (&alloc_q) wrapped_q <= 1'b1;
    end
    if (ended) begin
      result_q[done_q] <= status_i.result;
      done_q <= done_q + 1'b1;
    end
    reading_q <= reading_q + (SlotW + 1)'(reads_block) - (SlotW + 1)'(ended);
    if (take && reads) left_q <= left_q + 1'b1;
    if (rst_i) begin
      alloc_q <= '0;
      done_q <= '0;
      wrapped_q <= 1'b0;
      reading_q <= '0;
      issued_q <= '0;
      left_q <= '0;
    end
  end

  // ---- Delivery: read the whole block of a request, then send its descriptors from the RAM's output.
  // Whether there is none, but its packet's end, is told when it is written: what comes out of a block RAM comes late.
  typedef struct packed {
    logic ends;  // of the lane with the length
    logic [LaneW-1:0] data;
  } lane_t;
  function automatic lane_t [Lanes-1:0] lanes(desc_t whole);
    for (int k = 0; k < Lanes; k++)
    lanes[k] = '{ends: k == LenLane && whole.len == '0, data: whole[LaneW*k+:LaneW]};
  endfunction

  desc_t [Segs-1:0] row;
  logic  [Segs-1:0] ends_packet;
  for (genvar i = 0; i < Segs; i++) begin : g_segment
    lane_t [Lanes-1:0] into, out_of;
    logic [Lanes-1:0] write;
    for (genvar k = 0; k < Lanes; k++) begin : g_lane
      assign write[k] = ram_i.valid[i] && ram_i.sel == Sel && ram_i.strb[i][LaneW/8*k];
      assign row[i][LaneW*k+:LaneW] = out_of[k].data;
    end
    assign ends_packet[i] = out_of[LenLane].ends;
    `WHILE(write != '0, into, lanes(ram_i.data[i]))
    ram_sdp #(
        .Width($bits(into)),
        .Depth(Slots),
        .Lanes(Lanes)
    ) i_ram (
        .clk_i,
        .we_i(write),
        .waddr_i(ram_i.row[i][SlotW-1:0]),
        .wdata_i(into),
        .re_i(take),
        .raddr_i(jobs.data.slot),
        .rdata_o(out_of)
    );
  end

  `STREAM(fetch_desc_t, beat)
  logic send_q, page_ends;
  job_t job_q;  // pos and count advance
  desc_t place;
  dma_result_e job_result_q;

  wire slot_t reading_at = jobs.data.slot - done_q;
  wire arrived = !reads || {1'b0, reading_at} >= reading_q;
  wire sent = beat.valid && beat.ready;
  wire empty = job_q.status != DeqOk;
  wire [2:0] in_slot = 3'((4'd1 << job_q.log_block) - 4'd1);  // position bits inside a slot
  wire [2:0] pos_after = job_q.pos + 3'd1;
  wire last = empty || job_q.stream || job_result_q != DmaOk || (pos_after & in_slot) == 3'd0 ||
      ends_packet[pos_after];
  wire slot_ends = last && (!job_q.stream || page_ends);
  wire job_ends = slot_ends && (empty || job_q.count == 4'd1);
  assign jobs.ready = arrived && (!send_q || (sent && job_ends));
  assign take = jobs.valid && jobs.ready;

  ring_ptr_t slot_index_q;  // of the slot at hand, with `Indexed`
  if (Indexed) begin : g_indexed
    place_t first;
    assign first = place_t'(jobs.data.place);
    always_ff @(posedge clk_i) begin
      if (take) slot_index_q <= first.index;
      else if (sent && slot_ends) slot_index_q <= slot_index_q + 1'b1;
    end
  end else begin : g_not_indexed
    assign slot_index_q = '0;
  end

  if (Turns) begin : g_pages
    place_t turn;
    logic [63:0] addr;
    logic [15:0] len;
    ring_ptr_t index;
    assign turn = place_t'(jobs.data.place);
    always_comb begin
      place = '0;
      {place.addr, place.len, place.slot} = {addr, len, index};
    end
    desc_pages i_pages (
        .clk_i,
        .load_i(take),
        .addr_i(turn.addr),
        .granules_i(turn.granules),
        .index_i(turn.index),
        .step_i(sent),
        .addr_o(addr),
        .len_o(len),
        .index_o(index),
        .ends_o(page_ends)
    );
  end else begin : g_places
    assign page_ends = 1'b1;
    always_comb begin
      place = '0;
      place.addr = {60'(job_q.place), 4'd0};
    end
  end

  wire [63:0] stated = job_q.direct ? direct_out.data.desc.addr : row[job_q.pos].addr;
  wire beyond = stated[63:52] != '0, null_addr = stated[51:0] == '0;
  assign beat.valid = send_q;
  always_comb begin
    if (`WORTH(send_q)) begin
      beat.data = '{
          port: job_q.port,
          beat: '{
              queue: job_q.queue,
              cq: job_q.cq,
              status: job_q.status,
              result: job_result_q,
              last: last,
              inlined: job_q.direct && direct_out.data.desc.inlined,
              entry: job_q.direct ? direct_out.data.entry : '0,
              stream: job_q.stream,
              ends: page_ends,
              index: job_q.stream ? '0 : slot_index_q,
              desc: job_q.direct ? direct_out.data.desc : row[job_q.pos]
          }
      };
      if (Functions > 1) begin
        beat.data.beat.desc.addr =
            pcie_pkg::owned(owner_of(job_q.queue, Queues / Functions), beat.data.beat.desc.addr);
        if (beyond || null_addr) beat.data.beat.desc.addr = '0;
      end
      if (job_q.stream) beat.data.beat.desc = place;
    end
  end
  assign direct_out.ready = sent && job_q.direct;
  `SPILL(fetch_desc_t, i_desc, beat, desc)

  always_ff @(posedge clk_i) begin
    if (take) begin
      send_q <= 1'b1;
      job_q <= jobs.data;
      job_result_q <= reads ? result_q[jobs.data.slot] : DmaOk;
    end else if (sent) begin
      job_q.pos <= last ? (job_q.pos | in_slot) + 3'd1 : pos_after;
      if (slot_ends) job_q.count <= job_q.count - 1'b1;
      if (job_ends) send_q <= 1'b0;
    end
    if (rst_i) send_q <= 1'b0;
  end

  assign events_o = '{
          read: reads_block,
          hit: go && hit,
          pushed: go && direct,
          failed: ended && status_i.result != DmaOk
      };

  `ASSERT(AnswerHasRoom, answer |-> found_in.ready && granted_in.ready && asked_in.ready)
  `ASSERT(
      AnswerInBlock,
      pick_valid_q && ok_q |-> rsp.count != 0 && 32'(pos) + ((32'(rsp.count) + 32'(rsp.ahead)) << rsp.log_block) <= 8)
  `ASSERT(HintWithStep, hint_we |-> step)
  `ASSERT(DirectHasRoom, direct_in.valid |-> direct_in.ready)
  `ASSERT(DirectIsThere, send_q && job_q.direct |-> direct_out.valid)
  `ASSERT(StatusExpected, ended |-> reading_q != '0)
  `ASSERT(SlotIsReadOnce, reads_block |-> reading_q != (SlotW + 1)'(Slots))
  wire slot_t hint_at = hint_q.slot - done_q;
  `ASSERT(
      UsableIsSo,
      pick_valid_q && ok_q && here_q && hint_q.left != '0 |-> usable_q == ({1'b0, hint_at} < reading_q || result_q[hint_q.slot] == DmaOk))
  `ASSERT(PortExists, req.valid |-> int'(req.data.port) < Ports)
  `ASSERT(QueueExists, pick_valid_q && ok_q |-> int'(rsp.queue) < Queues)
endmodule

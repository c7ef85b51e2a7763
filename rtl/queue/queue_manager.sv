// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Descriptor queues: rings in host memory, their pointers here (host-nic paper, section II-D).
///
/// The host sets a queue up through `regs` (queue_pkg QReg*, 32 bytes a queue) and rings its doorbell; `deq_req` hands out
/// slots in order, `commit` counts them finished, `stop` stops a queue. One dequeue and one commit a clock, also when all
/// are of one queue; a register access takes one clock from both. Answers come 5 clocks later at the earliest, in order.
/// `deq_rsp`, `doorbell` and `error` may wait for as long as they like: only what needs room there waits with them.
/// - A ring starts empty when BaseLo is written. Base, Cq and the sizes are written while the queue is disabled, or are
///   ignored; wait until all slots handed out are finished before changing them. Only whole-word writes count.
/// - A doorbell outside the ring stops the queue (ErrDoorbell) and is not taken. Writing enable again lets it go on.
/// - Queues that do not exist are stopped for `deq_req`, read as zero, and are ignored otherwise.
/// After reset all queues are disabled and empty (Base and Cq are what they were); this takes `Queues` clocks, in which nothing
/// is accepted.
module queue_manager
  import queue_pkg::*;
#(
    parameter int Queues = 256
) (
    input  logic         clk_i,
    input  logic         rst_i,
    // Host registers, byte address queue * 32 + word * 4.
           reg_if.slave  regs,
    // Slots: deq_req_t, deq_rsp_t, commit_t.
           stream_if.snk deq_req,
           stream_if.src deq_rsp,
           stream_if.snk commit,
    // Stop a queue: queue_error_t.
           stream_if.snk stop,
    // To the scheduler: queue_t that has work. To the event path: queue_error_t, one for each stop.
           stream_if.src doorbell,
           stream_if.src error,
    // A register write was not taken as it was, for one clock; doorbells count as errors.
    output logic         refused_o
);
  if (Queues < 1 || Queues > 65536) begin : g_bad_parameter
    $fatal(1, "queue_manager: Queues %0d is not 1 ... 65536", Queues);
  end

  localparam int IndexW = Queues > 1 ? $clog2(Queues) : 1;
  typedef logic [IndexW-1:0] index_t;
  localparam int RspDepth = 8;

  typedef struct packed {
    logic [51:0] base;
    queue_t      cq;
  } place_t;

  typedef struct packed {
    logic [3:0] log_size;
    logic [1:0] log_block;
    ring_ptr_t  producer;
    ring_ptr_t  taken;      // handed out
    error_e     code;
    logic       stopped;
    logic       enable;
  } state_t;

  typedef struct packed {
    logic         deq;
    logic         stop;
    logic access;
    logic         known;  // the queue exists
    queue_t       queue;
    logic [3:0]   max;
    error_e       code;
  } op_t;

  // The register access under way.
  logic waiting, write, access;
  logic [31:0] addr, wdata, rdata;
  wire [ 2:0] word = addr[4:2];
  wire [31:0] access_queue = 32'(addr[31:5]);

  // What may start. A write waits until a doorbell and an error from it would have room; so does a stop.
  logic ready, finished_ready, error_room;
  op_t op, read_q, update_q;
  logic [$clog2(RspDepth+1)-1:0] rsp_count;
  wire all_ready = ready && finished_ready;
  reg_slot #(
      .Posted(1)
  ) i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(wdata),
      .take_i(access),
      .answer_i(update_q.access),
      .rdata_i(rdata)
  );
  assign access = waiting && all_ready && (!write || (error_room && !doorbell.valid));
  assign error_room = !error.valid && !(read_q.stop || update_q.stop || read_q.access || update_q.access);
  assign stop.ready = all_ready && error_room && !access;
  // Up to three answers may still be on their way to the FIFO.
  assign deq_req.ready = all_ready && !access && !stop.valid && 32'(rsp_count) + 4 <= RspDepth;
  assign commit.ready = all_ready && !access;

  always_comb begin
    op = '0;
    op.max = deq_req.data.max;
    op.code = stop.data.code;
    op.access = access;
    op.stop = stop.valid && stop.ready;
    op.deq = deq_req.valid && deq_req.ready;
    op.queue = access ? access_queue[15:0] : stop.valid ? stop.data.queue : deq_req.data.queue;
    op.known = access ? access_queue < Queues : 32'(op.queue) < Queues;
  end

  state_t now, next;
  wire start = (op.access || op.stop || op.deq) && op.known;
  rmw_ram #(
      .T(state_t),
      .Depth(Queues)
  ) i_state (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .start_i(start),
      .index_i(index_t'(op.queue)),
      .now_o  (now),
      .next_i (next)
  );

  // Where the ring is and where its completions go. Written while the queue is disabled, by one access at a time: what comes
  // right behind such a write, and sees what was there before, hands nothing out.
  logic writing_q;
  place_t place_read, place_q, next_place;
  wire write_place = writing_q && !now.enable;
  ram_sdp #(
      .Width(32),
      .Depth(Queues)
  ) i_base_hi (
      .clk_i,
      .we_i   (write_place && word == QRegBaseHi),
      .waddr_i(index_t'(update_q.queue)),
      .wdata_i(wdata),
      .re_i   (start),
      .raddr_i(index_t'(op.queue)),
      .rdata_o(place_read.base[51:20])
  );
  ram_sdp #(
      .Width(36),
      .Depth(Queues)
  ) i_base_lo (
      .clk_i,
      .we_i   (write_place),
      .waddr_i(index_t'(update_q.queue)),
      .wdata_i({next_place.base[19:0], next_place.cq}),
      .re_i   (start),
      .raddr_i(index_t'(op.queue)),
      .rdata_o({place_read.base[19:0], place_read.cq})
  );
  always_comb begin
    next_place = place_q;
    if (word == QRegBaseLo) next_place.base[19:0] = wdata[31:12];
    if (word == QRegCq) next_place.cq = wdata[15:0];
  end

  // Slots finished with, in a RAM of their own so that a commit fits beside a dequeue.
  ring_ptr_t finished, next_finished;
  logic [3:0] commit_count_read_q, commit_count_q;
  wire committing = commit.valid && commit.ready;
  rmw_ram #(
      .T(ring_ptr_t),
      .Depth(Queues)
  ) i_finished (
      .clk_i,
      .rst_i,
      .ready_o(finished_ready),
      .start_i(access ? op.known : committing && 32'(commit.data.queue) < Queues),
      .index_i(access ? index_t'(op.queue) : index_t'(commit.data.queue)),
      .now_o  (finished),
      .next_i (next_finished)
  );

  // The update: what a dequeue gets.
  deq_status_e status;
  logic [3:0] left, in_block, count;
  ring_ptr_t available;
  always_comb begin
    available = now.producer - now.taken;
    // To the end of the block of eight descriptors.
    left = (4'd8 >> now.log_block) - ({1'b0, now.taken[2:0]} & ((4'd8 >> now.log_block) - 4'd1));
    in_block = available < 16'(left) ? available[3:0] : left;
    count = update_q.max < in_block ? update_q.max : in_block;
    status = available == '0 ? DeqEmpty : DeqOk;
    if (!update_q.known || !now.enable || now.stopped) status = DeqStopped;
    if (status != DeqOk) count = '0;
  end

  // The update: what becomes of the state. What is written is known a clock ahead.
  logic to_producer_q, to_control_q;
  wire to_write = read_q.access && read_q.known && write;

  // The producer lies between what was handed out and one ring ahead of what is finished.
  wire [3:0] new_log_size = wdata[7:4] < 4'd3 ? 4'd3 : wdata[7:4];
  wire [3:0] log_size = to_control_q && !now.enable ? new_log_size : now.log_size;
  wire ring_ptr_t offered = (to_producer_q ? wdata[15:0] : now.producer) - finished;
  wire in_range = offered >= now.taken - finished && offered <= 16'd1 << log_size;
  // A write to a queue that runs, or that makes it run.
  wire runs = to_producer_q ? now.enable && !now.stopped : to_control_q && wdata[0];

  logic ring, stopping, refused;
  always_comb begin
    next = now;
    next_finished = update_q.access ? finished : finished + 16'(commit_count_q);
    ring = runs && in_range && (to_producer_q ? wdata[15:0] : now.taken) != now.producer;
    stopping = runs && !in_range;
    if (update_q.deq) next.taken = now.taken + 16'(count);
    if (update_q.stop && now.enable && !now.stopped) begin
      stopping  = update_q.known;
      next.code = update_q.code;
    end
    if (writing_q) begin
      unique case (word)
        QRegBaseLo:
        if (!now.enable) begin
          next.producer = '0;
          next.taken    = '0;
          next_finished = '0;
        end
        QRegControl: begin
          next.enable = wdata[0];
          if (!now.enable) begin
            next.log_size  = new_log_size;
            next.log_block = wdata[9:8];
          end
          if (next.enable) begin
            next.stopped = 1'b0;
            next.code = ErrNone;
          end
        end
        QRegProducer: if (!now.enable || in_range) next.producer = wdata[15:0];
        default: ;
      endcase
    end
    if (runs && !in_range) next.code = ErrDoorbell;
    if (stopping) next.stopped = 1'b1;
  end

  wire sizes_differ = wdata[7:4] != now.log_size || wdata[9:8] != now.log_block;
  always_comb begin
    unique case (word)
      QRegBaseLo, QRegBaseHi, QRegCq: refused = now.enable;
      QRegControl: refused = now.enable ? sizes_differ : wdata[7:4] < 4'd3;
      default: refused = 1'b0;
    endcase
    if (!update_q.known) refused = 1'b1;
  end

  always_comb begin
    unique case (word)
      QRegBaseLo: rdata = {place_q.base[19:0], 12'd0};
      QRegBaseHi: rdata = place_q.base[51:20];
      QRegControl:
      rdata = {8'd0, now.code, 6'd0, now.log_block, now.log_size, 2'd0, now.stopped, now.enable};
      QRegCq: rdata = {16'd0, place_q.cq};
      QRegProducer: rdata = {16'd0, now.producer};
      QRegConsumer: rdata = {now.taken, finished};
      default: rdata = '0;
    endcase
    if (!update_q.known) rdata = '0;
  end

  // The answer to a dequeue: the address is made one clock after the update.
  `STREAM(deq_rsp_t, rsp)
  logic rsp_valid_q;
  deq_rsp_t rsp_q;
  logic [3:0] log_size_q;
  ring_ptr_t wrapped;
  assign wrapped   = rsp_q.index & ~(16'hFFFF << log_size_q);
  assign rsp.valid = rsp_valid_q;
  always_comb begin
    rsp.data = rsp_q;
    rsp.data.addr = rsp_q.addr + (64'(wrapped) << (3'd4 + 3'(rsp_q.log_block)));
  end

  fifo #(
      .T(deq_rsp_t),
      .Depth(RspDepth)
  ) i_rsp (
      .clk_i,
      .rst_i,
      .in     (rsp),
      .out    (deq_rsp),
      .count_o(rsp_count)
  );

  logic doorbell_valid_q, error_valid_q;
  queue_t doorbell_q;
  queue_error_t error_q;
  assign doorbell.valid = doorbell_valid_q;
  assign doorbell.data = doorbell_q;
  assign error.valid = error_valid_q;
  assign error.data = error_q;

  always_ff @(posedge clk_i) begin
    read_q   <= op;
    update_q <= read_q;
    if (read_q.access || read_q.deq) place_q <= place_read;
    writing_q <= to_write;
    to_producer_q <= to_write && word == QRegProducer;
    to_control_q <= to_write && word == QRegControl;
    refused_o <= update_q.access && write && refused;
    commit_count_read_q <= commit.data.count;
    commit_count_q <= commit_count_read_q;

    rsp_valid_q <= update_q.deq;
    if (update_q.deq) begin
      rsp_q.queue <= update_q.queue;
      rsp_q.status <= status;
      rsp_q.count <= count;
      rsp_q.ahead <= status == DeqOk ? in_block - count : '0;
      rsp_q.more <= status == DeqOk && available != 16'(count);
      rsp_q.index <= now.taken;
      rsp_q.addr <= {place_q.base, 12'd0};
      rsp_q.log_block <= now.log_block;
      rsp_q.cq <= place_q.cq;
      log_size_q <= now.log_size;
    end

    if (ring) begin
      doorbell_valid_q <= 1'b1;
      doorbell_q <= update_q.queue;
    end else if (doorbell.ready) doorbell_valid_q <= 1'b0;
    if (stopping) begin
      error_valid_q <= 1'b1;
      error_q <= '{queue: update_q.queue, code: next.code};
    end else if (error.ready) error_valid_q <= 1'b0;

    if (rst_i) begin
      read_q <= '0;
      update_q <= '0;
      {writing_q, to_producer_q, to_control_q} <= '0;
      rsp_valid_q <= 1'b0;
      doorbell_valid_q <= 1'b0;
      error_valid_q <= 1'b0;
    end
  end

  `ASSERT(AnswerHasRoom, rsp.valid |-> rsp.ready)
  `ASSERT(ErrorHasRoom, stopping |-> !error.valid)
  `ASSERT(DoorbellHasRoom, ring |-> !doorbell.valid)
  `ASSERT(OneAccess, regs.req |-> !(waiting || read_q.access || (update_q.access && !write)))
endmodule

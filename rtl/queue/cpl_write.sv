// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Completion write: puts records into completion (or event) queues in host memory (host-nic paper, section II-C).
///
/// Each `record` gets its place from the completion queue manager and is gathered with the next ones of its queue in a
/// line: up to eight records that share 128 bytes of the ring. A line is written when its block is full, when its first
/// record is `max_delay_i` clocks old, or when Lines/2 further lines have been opened since; after the DMA status the
/// records are committed. A record that comes after as long a time without any is not kept waiting: company is not to be
/// expected. Records of one queue are written and committed in order.
/// Throughput one record a clock with up to Lines/2 queues in turn (beyond that lines go out part full: at worst one
/// record a line, Lines records each DMA round trip); latency about 8 clocks and the delay, queue manager and DMA not counted.
/// Full back-pressure; answers, statuses and RAM reads are always taken. Reset forgets everything; for `Lines` clocks after
/// it no line is opened.
/// Drops and counts records that the queue manager has no place for (`lost`). A failed write is counted and committed: the
/// phase bit keeps the host from taking what is not there.
///
/// A ring set up anew must start at index 0, after everything begun for it has been committed.
module cpl_write
  import queue_pkg::*;
  import dma_pkg::*;
#(
    parameter int Queues = 1024,
    parameter int Lines = 64,  // open or being written, a power of two
    parameter ram_sel_t Sel = '0
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    // Longest time a record waits for others, in clocks.
    input  logic              [15:0] max_delay_i,
    // Records (record_t).
           stream_if.snk             record,
    // Completion queue manager (queue_t, enq_rsp_t, commit_t). Room for each answer is kept before asking.
           stream_if.src             enq_req,
           stream_if.snk             enq_rsp,
           stream_if.src             commit,
    // DMA write engine (dma_req_t); statuses and reads of other clients are ignored, RAM output 0 then.
           stream_if.src             dma,
    input  dma_status_t              status_i,
    input  ram_read_t                ram_i,
    output ram_row_t                 ram_o,
    // Pulses for counters.
    output cpl_write_events_t        events_o
);
  localparam int LineW = $clog2(Lines);
  localparam int QueueW = Queues > 1 ? $clog2(Queues) : 1;
  localparam int Window = 32;  // records waiting for their place

  if (Lines < 4 || 2 ** LineW != Lines || Lines * RowBytes > 2 ** RamAddrW) begin : g_bad_lines
    $fatal(1, "cpl_write: Lines %0d is not a power of two from 4 that fits a DMA RAM", Lines);
  end

  typedef logic [LineW-1:0] line_t;
  typedef logic [LineW:0] lines_t;  // a number of lines
  typedef logic [16:0] stamp_t;  // max_delay_i and more, so that it cannot pass unseen

  typedef struct packed {
    record_t     record;
    logic [63:0] addr;
  } placed_t;

  // What stays the same while a line is open.
  typedef struct packed {
    queue_t      cq;
    logic [56:0] block;  // bits 63:7 of the address in host memory
    logic [2:0]  first;
  } line_info_t;

  typedef struct packed {
    line_t      line;
    logic [2:0] after;  // position behind its newest record, 0 of a full one
  } closed_t;

  typedef struct packed {
    line_t   line;
    commit_t commit;
  } writing_t;

  // ---- Places: a record waits here while the queue manager is asked.
  `STREAM(record_t, waiting_in)
  `STREAM(record_t, waiting)
  `STREAM(enq_rsp_t, place)

  `FIFO(record_t, Window, i_waiting, waiting_in, waiting)
  // Never full: there is one answer for each waiting record at the most.
  `FIFO(enq_rsp_t, Window, i_place, enq_rsp, place)

  assign enq_req.valid = record.valid && waiting_in.ready;
  assign enq_req.data = record.data.cq;
  assign record.ready = waiting_in.ready && enq_req.ready;
  assign waiting_in.valid = record.valid && record.ready;
  assign waiting_in.data = record.data;

  logic look_valid_q, pick_valid_q, go;
  wire step = !pick_valid_q || go;
  wire take = step && waiting.valid && place.valid;
  assign waiting.ready = step && place.valid;
  assign place.ready   = step && waiting.valid;

  // ---- Two stages: look up the line the queue used last, then choose the line.
  placed_t look_q, pick_q;
  logic written_valid_q;
  line_t hint_ram, hint_look, hint_q, written_line_q, line;
  queue_t written_cq_q;
  logic opens;  // the record starts a line
  wire queue_t cq = pick_q.record.cq;
  wire [2:0] pos = pick_q.addr[6:4];

  ram_sdp #(
      .Width(LineW),
      .Depth(Queues)
  ) i_hint (
      .clk_i,
      .we_i(go && opens),
      .waddr_i(cq[QueueW-1:0]),
      .wdata_i(line),
      .re_i(take),
      .raddr_i(waiting.data.cq[QueueW-1:0]),
      .rdata_o(hint_ram)
  );

  // The RAM does not show the write of this clock, nor that of the clock in which it was read.
  always_comb begin
    hint_look = hint_ram;
    if (written_valid_q && written_cq_q == look_q.record.cq) hint_look = written_line_q;
    if (pick_valid_q && opens && cq == look_q.record.cq) hint_look = line;
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      look_valid_q <= take && place.data.ok;
      look_q.record <= waiting.data;
      look_q.record.record[31] <= place.data.phase;
      look_q.addr <= place.data.addr;
      pick_valid_q <= look_valid_q;
      pick_q <= look_q;
      hint_q <= hint_look;
    end
    if (go && opens) begin
      written_valid_q <= 1'b1;
      written_cq_q <= cq;
      written_line_q <= line;
    end
    if (rst_i) begin
      look_valid_q <= 1'b0;
      pick_valid_q <= 1'b0;
      written_valid_q <= 1'b0;
    end
  end

  // ---- Lines, opened in turn. `old_q` follows and closes those that are due; `span_q` lines lie between the two, Lines/2 + 1 at
  // the most. They become due in turn, one a clock: `due_q` goes ahead of `old_q` over those that are, a clock before it matters.
  logic [QueueW-1:0] owner_q[Lines];
  logic [2:0] after_q[Lines];  // position behind the newest record
  stamp_t opened_q[Lines];
  line_t new_line, old_q, due_q;
  line_t span_q;
  stamp_t now_q, newest_q;  // newest_q: when the newest record came
  logic quiet_q;  // that is max_delay_i ago: a line that is opened is due at once

  `STREAM(closed_t, closed_in)
  `STREAM(closed_t, closed)
  `STREAM(writing_t, writing_in)
  `STREAM(writing_t, writing)
  lines_t ended_q;

  logic flags_ready, hint_open, old_is_open, new_busy, retire;
  // A line that is still open and the queue's own takes the record if the record comes next in it.
  assign opens = !(hint_open && owner_q[hint_q] == cq[QueueW-1:0] && after_q[hint_q] == pos);
  assign line  = opens ? new_line : hint_q;
  wire fills = pos == 3'd7;

  // The oldest open line waits while a record goes into it.
  wire touched = pick_valid_q && !opens && hint_q == old_q;
  wire old_open = span_q != '0 && old_is_open;
  wire expired = due_q != old_q;
  wire crowded = span_q > line_t'(Lines / 2);
  wire close_old = old_open && !touched && (expired || crowded);
  wire step_old = span_q != '0 && (!old_is_open || close_old);

  wire may_open = flags_ready && !new_busy;
  assign go = pick_valid_q && (!opens || may_open) && !(fills && close_old);

  assign closed_in.valid = close_old || (go && fills);
  assign closed_in.data = close_old ?
      '{line: old_q, after: after_q[old_q]} :
      '{line: line, after: 3'd0};

  `FIFO(closed_t, Lines, i_closed, closed_in, closed)

  assign retire = writing.valid && commit.valid && commit.ready;

  // Lines that take records, and lines that are not yet committed.
  turn_flags #(
      .Depth(Lines),
      .Looks(2)
  ) i_open (
      .clk_i,
      .rst_i,
      .ready_o(flags_ready),
      .set_i(go && opens),
      .next_o(new_line),
      .clear_i(closed_in.valid),
      .clear_index_i(closed_in.data.line),
      .look_i({old_q, hint_q}),
      .set_o({old_is_open, hint_open})
  );
  turn_flags #(
      .Depth(Lines)
  ) i_busy (
      .clk_i,
      .rst_i,
      .ready_o(),
      .set_i(go && opens),
      .next_o(),
      .clear_i(retire),
      .clear_index_i(writing.data.line),
      .look_i(new_line),
      .set_o(new_busy)
  );

  stamp_t next;
  assign next = now_q + 1'b1;
  wire becomes_due = due_q == new_line ? go && opens && quiet_q : next - opened_q[due_q] >= {1'b0, max_delay_i};

  always_ff @(posedge clk_i) begin
    now_q <= next;
    if (now_q - newest_q >= {1'b0, max_delay_i}) quiet_q <= 1'b1;
    if (go) begin
      after_q[line] <= pos + 1'b1;
      newest_q <= now_q;
      quiet_q <= max_delay_i <= 16'd1;
    end
    if (go && opens) begin
      owner_q[line]  <= cq[QueueW-1:0];
      opened_q[line] <= now_q;
    end
    if (becomes_due || (step_old && !expired)) due_q <= due_q + 1'b1;
    if (step_old) old_q <= old_q + 1'b1;
    span_q <= span_q + line_t'(go && opens) - line_t'(step_old);
    if (rst_i) begin
      old_q <= '0;
      due_q <= '0;
      span_q <= '0;
      now_q <= '0;
      newest_q <= '0;
      quiet_q <= 1'b1;
    end
  end

  // ---- Writing: closed lines become DMA requests; statuses come in their order.
  line_info_t info;
  closed_t send_q;
  logic send_valid_q;
  wire load = closed.valid && (!send_valid_q || dma.ready);
  wire [3:0] count = {send_q.after == '0, send_q.after} - {1'b0, info.first};
  wire ended = status_i.valid && status_i.sel == Sel;

  ram_sdp #(
      .Width($bits(line_info_t)),
      .Depth(Lines)
  ) i_info (
      .clk_i,
      .we_i(go && opens),
      .waddr_i(line),
      .wdata_i({cq, pick_q.addr[63:7], pos}),
      .re_i(load),
      .raddr_i(closed.data.line),
      .rdata_o(info)
  );

  assign closed.ready = !send_valid_q || dma.ready;
  assign dma.valid = send_valid_q;
  assign dma.data = '{
          host_addr: {info.block, info.first, 4'b0},
          sel: Sel,
          ram_addr: ram_addr_t'({send_q.line, info.first, 4'b0}),
          len: {8'b0, count, 4'b0},
          relaxed: 1'b0
      };

  // Never full: one place a line.
  assign writing_in.valid = send_valid_q && dma.ready;
  assign writing_in.data = '{line: send_q.line, commit: '{queue: info.cq, count: 9'(count)}};
  `FIFO(writing_t, Lines, i_writing, writing_in, writing)

  assign commit.valid  = writing.valid && ended_q != '0;
  assign commit.data   = writing.data.commit;
  assign writing.ready = commit.ready && ended_q != '0;

  always_ff @(posedge clk_i) begin
    if (load) begin
      send_valid_q <= 1'b1;
      send_q <= closed.data;
    end else if (dma.ready) begin
      send_valid_q <= 1'b0;
    end
    ended_q <= ended_q + lines_t'(ended) - lines_t'(retire);
    if (rst_i) begin
      send_valid_q <= 1'b0;
      ended_q <= '0;
    end
  end

  // ---- The records' RAM, one row a line. What is not read is 0: outputs are ORed with other RAMs.
  for (genvar i = 0; i < Segs; i++) begin : g_segment
    logic [SegW-1:0] mem[Lines];
    logic [SegW-1:0] out_q;
    line_t at_q;
    logic read_q, shown_q;
    assign ram_o[i] = out_q;
    always_ff @(posedge clk_i) begin
      if (go && pos == 3'(i)) mem[line] <= pick_q.record.record;
      read_q <= ram_i.valid[i] && ram_i.sel == Sel;
      at_q <= ram_i.row[i][LineW-1:0];
      shown_q <= read_q;
      if (read_q || shown_q) out_q <= read_q ? mem[at_q] : '0;
      if (rst_i) begin
        read_q  <= 1'b0;
        shown_q <= 1'b1;
      end
    end
  end

  assign events_o = '{
          lost: take && !place.data.ok,
          write: dma.valid && dma.ready,
          expired: close_old && expired,
          evicted: close_old && !expired,
          failed: ended && status_i.result != DmaOk
      };

  `ASSERT(PlaceTaken, enq_rsp.valid |-> enq_rsp.ready)
  `ASSERT(AnswerMatches, take |-> place.data.cq == waiting.data.cq)
  `ASSERT(LineClosedOnce, closed_in.valid |-> closed_in.ready)
  `ASSERT(LinesBetween, span_q <= line_t'(Lines / 2 + 1) && line_t'(due_q - old_q) <= span_q)
  `ASSERT(StatusExpected, ended |-> writing.valid && ended_q < lines_t'(Lines))
  `ASSERT(QueueExists, look_valid_q |-> int'(look_q.record.cq) < Queues)
endmodule

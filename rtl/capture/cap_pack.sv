// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The packer: packets of all lengths become records packed one after the other in blocks, full-size writes on the links
/// (capture paper, "The DMA Engine groups packets together").
///
/// Each ring has at most one open block, carried by one link: the one with the least work when the block is opened. A block
/// closes when the next record does not fit, when its link has `switch_margin` more pieces queued than the other and that one
/// less than four times as many (from `switch_bytes` on, or when the link is full), or when its link goes down; then all work for it is there and its progress entry follows.
/// Records go to pages of the link's staging memory; a full page is handed to the link as one piece of work, so pieces are
/// aligned in the block whatever the packets are. The flush timer hands over a page that is not full, and an entry; while
/// the link has more than FlushQueued pieces queued it takes eight times as long: no bandwidth is lost to small pieces.
/// One beat a clock, one record a clock, 2-4 clocks more for a block; a ring's state is read from its RAM a clock ahead, and what the decision needs of it is compared then. A
/// packet begins only when all pages and work places it may need are free on its link, so it is never held up in the middle
/// and never torn. A packet for a ring without a free block, or longer than a block, is dropped whole (`dropped_o`,
/// `too_long_o`). `waits_o`: a packet waits for pages.
module cap_pack
  import cap_pkg::*;
#(
    parameter int Rings = 8,
    parameter int PageBytes = 512,
    parameter int FlushQueued = 8
) (
    input logic clk_i,
    input logic rst_i,
    input pack_cfg_t cfg_i,

    stream_if.snk in,  // beat_t

    // Rings.
    output cap_ring_t                   ring_o,
    output logic                        open_o,
    output logic                        close_o,
    output logic                        packet_o,
    output logic                        dropped_o,
    output logic                        too_long_o,
    output logic                        waits_o,
    input  logic      [Rings-1:0]       room_i,
    input  logic      [Rings-1:0][31:0] opened_i,
    input  logic      [Rings-1:0][31:0] packets_i,

    // Links. `pages_i` pages are free, `page_i` is the next of them.
    input logic [MaxLinks-1:0] ok_i,
    input logic [MaxLinks-1:0] space_i,  // for all the work of the longest packet
    input logic [MaxLinks-1:0][PageIdW:0] pages_i,
    input logic [MaxLinks-1:0][PageIdW-1:0] page_i,
    input logic [MaxLinks-1:0][QueuedW-1:0] queued_i,
    output logic [MaxLinks-1:0] take_o,  // the page
    output logic [MaxLinks-1:0] using_o,  // the link has an open block, or work on its way to it
    output logic [MaxLinks-1:0] opened_o,  // a block
    output logic [MaxLinks-1:0] work_valid_o,
    output work_t work_o,
    output logic [MaxLinks-1:0] stage_valid_o,
    output stage_write_t stage_o
);
  localparam int PageW = $clog2(PageBytes);
  localparam int RowsW = PageW - 7;
  localparam int RingIndexW = Rings > 1 ? $clog2(Rings) : 1;
  localparam int LinkW = $clog2(MaxLinks);
  if (2 ** PageW != PageBytes || PageW < 7 || PageW > 10) begin : g_bad_parameter
    $fatal(1, "cap_pack: PageBytes %0d is not a power of two from 128 to 1024", PageBytes);
  end

  typedef struct packed {
    logic [LinkW-1:0]   link;
    logic [PageIdW-1:0] page;
    logic [OffW-1:0]    off;           // bytes in the block
    logic [OffW-1:0]    left;          // and those that still go into it
    logic               used;          // there is a record in it
    logic               past;          // switch_bytes
    logic               untold;        // some of `off` are not covered by an entry
    logic [PageW-1:0]   sent;          // bytes of the page that work is under way for
    logic [23:0]        packets;       // in the block
    logic [OffW-1:0]    told;          // bytes that an entry covers
    logic [23:0]        told_packets;
    logic [23:0]        since;         // first packet no entry covers
  } state_t;
  state_t states[Rings];
  logic [Rings-1:0] open_q;  // those with an open block

  `STREAM(record_beat_t, record)
  cap_record i_record (
      .clk_i,
      .rst_i,
      .timestamps_i(cfg_i.timestamps),
      .in(in),
      .out(record)
  );
  record_beat_t next_beat;
  assign next_beat = record.data;
  logic [23:0] time_q;

  // One that is due comes next between packets.
  logic [RingIndexW-1:0] scan, due_ring;
  logic due, pick_due, advance;
  state_t scanned;
  assign scanned = states[scan];
  wire unused_scanned = &{1'b0, scanned};
  cap_flush #(
      .Rings(Rings),
      .FlushQueued(FlushQueued)
  ) i_flush (
      .clk_i,
      .rst_i,
      .cfg_i,
      .ok_i,
      .queued_i,
      .waits_i(record.valid),
      .time_i(time_q),
      .scan_o(scan),
      .open_i(open_q[scan]),
      .link_i(scanned.link),
      .untold_i(scanned.untold),
      .since_i(scanned.since),
      .due_o(due),
      .ring_o(due_ring),
      .taken_i(advance && pick_due)
  );

  // First the ring is chosen: that of the next beat, or the one that is due. Its state is read while the clock before is done.
  logic inside_q;  // the last beat chosen was not the end of its record
  logic valid_q, is_due_q;
  logic [RingIndexW-1:0] ring_q, pick_ring;
  record_beat_t beat_q;
  assign pick_due = due && !inside_q;
  assign record.ready = advance && !pick_due;
  always_comb begin
    pick_ring = ring_q;
    if (pick_due) pick_ring = due_ring;
    else if (record.valid && !inside_q) pick_ring = RingIndexW'(next_beat.ring);
  end

  state_t now_q, now_d, next;
  logic now_open_q, next_open, room_q, update, write, open, close;
  logic [3:0] lane_n_q;
  logic [MaxLinks-1:0] can, move, has_blocks, work_under_way;
  logic [LinkW-1:0] choice;
  cap_links #(
      .PageW(PageW)
  ) i_links (
      .clk_i,
      .rst_i,
      .switch_margin_i(cfg_i.switch_margin),
      .advance_i(advance),
      .record_i(beat_q.record),
      .next_record_i(next_beat.record),
      .ok_i,
      .space_i,
      .pages_i,
      .queued_i,
      .can_o(can),
      .move_o(move),
      .choice_o(choice),
      .open_i(open),
      .close_i(close),
      .link_i(now_q.link),
      .opened_o,
      .using_o(has_blocks)
  );
  assign using_o = has_blocks | work_under_way;
  wire [OffW-1:0] block_bytes = OffW'(1) << cfg_i.log_block_bytes;
  // Whether the record goes into the block, and into any: all that its ring's bytes can be is compared before it is known which.
  logic fits_q, too_long_q;
  wire [7:0] added = {beat_q.words, 3'd0};  // bytes that a beat adds
  wire fits_behind = now_q.left >= OffW'(next_beat.record) + OffW'(added);
  wire fits_same = now_q.left >= OffW'(next_beat.record);
  wire fits_there = states[pick_ring].left >= OffW'(next_beat.record);
  wire onto_itself = pick_ring == ring_q;
  always_comb begin
    now_d = update ? next : now_q;
    if (advance && !onto_itself) now_d = states[pick_ring];
  end
  always_ff @(posedge clk_i) begin
    if (advance) begin
      valid_q  <= pick_due || record.valid;
      is_due_q <= pick_due;
      ring_q   <= pick_ring;
      if (record.valid && !pick_due) begin
        beat_q   <= next_beat;
        inside_q <= !next_beat.eop;
      end
    end
    if (update) begin
      states[ring_q] <= next;
      open_q[ring_q] <= next_open;
    end
    now_q <= now_d;
    lane_n_q <= ~now_d.off[6:3];
    if (advance && !onto_itself) now_open_q <= open_q[pick_ring];
    else if (update) now_open_q <= next_open;
    if (open) fits_q <= 1'b1;
    else if (advance) fits_q <= !onto_itself ? fits_there : write ? fits_behind : fits_same;
    if (advance) too_long_q <= OffW'(next_beat.record) > block_bytes;
    room_q <= room_i[advance?pick_ring : ring_q];
    if (rst_i) begin
      valid_q <= 1'b0;
      inside_q <= 1'b0;
      open_q <= '0;
      ring_q <= '0;
      now_open_q <= 1'b0;
    end
  end
  wire change = move[now_q.link] && now_q.used && (now_q.past || !can[now_q.link]);
  wire [PageW-1:0] page_off = now_q.off[PageW-1:0];
  wire [PageW:0] page_end = {1'b0, page_off} + (PageW + 1)'(added);
  wire fills = page_end[PageW];

  cap_piece_t piece;

  // What is under way across clocks: the entry after the last piece, and until the rings know of a closed block.
  typedef enum logic [1:0] {
    Act,
    Entry,
    Settle
  } step_e;
  step_e step_q, step_d;
  logic closing_q, closing_d;  // Entry of a block that closes
  logic dropping_q, dropping_d;  // the rest of the record
  logic leaves;
  logic [MaxLinks-1:0] take;
  assign advance = !valid_q || leaves;

  always_comb begin
    next = now_q;
    next_open = now_open_q;
    step_d = step_q;
    closing_d = closing_q;
    dropping_d = dropping_q;
    leaves = 1'b0;
    open = 1'b0;
    close = 1'b0;
    write = 1'b0;
    update = 1'b0;
    take = '0;
    packet_o = 1'b0;
    dropped_o = 1'b0;
    too_long_o = 1'b0;
    waits_o = 1'b0;
    piece = '0;
    piece.link = now_q.link;
    piece.ring = cap_ring_t'(ring_q);
    piece.work.page = now_q.page;
    piece.work.from = PageOffW'(now_q.sent);
    piece.work.len = PageOffW'(page_off - now_q.sent);
    piece.off = {now_q.off[OffW-1:PageW], now_q.sent};
    piece.work.packets = now_q.packets - now_q.told_packets;
    piece.work.bytes = now_q.off - now_q.told;
    piece.work.entry = '{
        link: 8'(now_q.link),
        packets: now_q.packets,
        closed: closing_q,
        bytes: 32'(now_q.off),
        default: '0
    };

    unique case (step_q)
      Entry: begin
        piece.valid = 1'b1;
        piece.work.is_entry = 1'b1;
        next.told = now_q.off;
        next.untold = 1'b0;
        next.told_packets = now_q.packets;
        next_open = !closing_q;
        close = closing_q;
        update = 1'b1;
        leaves = is_due_q;
        step_d = closing_q ? Settle : Act;
      end
      Settle: step_d = Act;
      default: begin
        if (!valid_q) begin
        end else if (is_due_q) begin
          // A block whose link is down, or all of them at the end, is closed; else it gets an entry. Ends always free the page.
          if (now_open_q && space_i[now_q.link]
              && (now_q.untold || !ok_i[now_q.link] || !cfg_i.enable)) begin
            closing_d = !ok_i[now_q.link] || (!cfg_i.enable && !record.valid);
            piece.work.free = closing_d;
            piece.valid = closing_d || now_q.sent != page_off;
            next.sent = page_off;
            update = 1'b1;
            step_d = Entry;
          end else begin
            leaves = 1'b1;
          end
        end else if (!beat_q.sop) begin
          write  = !dropping_q;
          leaves = 1'b1;
        end else if (too_long_q) begin
          too_long_o = 1'b1;
          dropping_d = 1'b1;
          leaves = 1'b1;
        end else if (now_open_q && (!fits_q || change || !ok_i[now_q.link])) begin
          if (space_i[now_q.link]) begin
            closing_d = 1'b1;
            piece.work.free = 1'b1;
            piece.valid = 1'b1;
            next.sent = page_off;
            update = 1'b1;
            step_d = Entry;
          end
        end else if (now_open_q) begin
          write = can[now_q.link];
          leaves = write;
          packet_o = write;
          waits_o = !write;
          dropping_d = 1'b0;
        end else if (!room_q) begin
          dropped_o = 1'b1;
          dropping_d = 1'b1;
          leaves = 1'b1;
        end else if (can[choice]) begin
          open = 1'b1;
          update = 1'b1;
          take[choice] = 1'b1;
          next = '0;
          next_open = 1'b1;
          next.link = choice;
          next.left = block_bytes;
          next.page = page_i[choice];
        end else begin
          waits_o = 1'b1;
        end
      end
    endcase

    if (write) begin
      update = 1'b1;
      next.off = now_q.off + OffW'(added);
      next.left = now_q.left - OffW'(added);
      next.past = next.off >= cfg_i.switch_bytes;
      next.used = 1'b1;
      next.untold = 1'b1;
      if (beat_q.sop) begin
        next.packets = now_q.packets + 1'b1;
        if (!now_q.untold) next.since = time_q;
      end
      if (fills) begin
        piece.valid = 1'b1;
        piece.work.free = 1'b1;
        piece.work.len = PageOffW'(PageBytes) - PageOffW'(now_q.sent);
        next.sent = '0;
        next.page = page_i[now_q.link];
        take[now_q.link] = 1'b1;
      end
    end
  end

  assign ring_o  = cap_ring_t'(ring_q);
  assign open_o  = open;
  assign close_o = close;
  assign take_o  = take;

  always_ff @(posedge clk_i) begin
    time_q <= time_q + 1'b1;
    step_q <= step_d;
    closing_q <= closing_d;
    dropping_q <= dropping_d;
    if (rst_i) begin
      time_q <= '0;
      step_q <= Act;
    end
  end

  cap_work #(
      .Rings(Rings)
  ) i_work (
      .clk_i,
      .rst_i,
      .cfg_i,
      .piece_i(piece),
      .opened_i,
      .packets_i,
      .under_way_o(work_under_way),
      .work_valid_o,
      .work_o
  );

  wire [PageIdW+3:0] row = ((PageIdW + 4)'(now_q.page) << RowsW) + (PageIdW + 4)'(page_off >> 7);
  cap_place i_place (
      .clk_i,
      .rst_i,
      .write_i(write),
      .link_i(now_q.link),
      .row_i(row),
      .next_row_i(fills ? (PageIdW + 4)'(page_i[now_q.link]) << RowsW : row + 1'b1),
      .lane_i(page_off[6:3]),
      .lane_n_i(lane_n_q),
      .words_i(beat_q.words),
      .data_i(beat_q.data),
      .stage_valid_o,
      .stage_o
  );

  `ASSERT(PagesReserved, (take[0] |-> pages_i[0] != 0) and(take[1] |-> pages_i[1] != 0))
  `ASSERT(StartsWithSop, record.valid && record.ready |-> next_beat.sop == !inside_q)
  `ASSERT(StateIsWhatIsKept, open_q[ring_q] == now_open_q)
  `ASSERT(NeverBeyondBlock, write |-> next.off <= block_bytes)
  `ASSERT(SentWithinPage, write |-> now_q.sent <= page_off)
endmodule

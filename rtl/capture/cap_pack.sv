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
/// One beat a clock, one record a clock, 2-4 clocks more for a block; a ring's state is read from its RAM a clock ahead. A
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

  // Timer: examines one ring each clock; one that is due comes next between packets.
  logic [RingIndexW-1:0] scan_q, scanned_ring_q, due_ring_q;
  logic due_q, scanned_open_q;
  state_t scanned_q;
  wire unused_scanned = &{1'b0, scanned_q.page, scanned_q.sent, scanned_q.packets, scanned_q.told_packets};
  wire untold = scanned_q.told != scanned_q.off;
  wire [23:0] age = time_q - scanned_q.since;
  wire [23:0] patience = queued_i[scanned_q.link] > QueuedW'(FlushQueued)
      ? {1'b0, cfg_i.flush_clocks, 3'd0} : 24'(cfg_i.flush_clocks);
  wire stale = untold && age >= patience;
  wire ends = !ok_i[scanned_q.link] || (!cfg_i.enable && !record.valid);

  // First the ring is chosen: that of the next beat, or the one that is due. Its state is read while the clock before is done.
  logic advance;
  logic inside_q;  // the last beat chosen was not the end of its record
  logic valid_q, is_due_q;
  logic [RingIndexW-1:0] ring_q, pick_ring;
  record_beat_t beat_q;
  wire pick_due = due_q && !inside_q;
  assign record.ready = advance && !pick_due;
  always_comb begin
    pick_ring = ring_q;
    if (pick_due) pick_ring = due_ring_q;
    else if (record.valid && !inside_q) pick_ring = RingIndexW'(next_beat.ring);
  end

  state_t now_q, next;
  logic now_open_q, next_open, room_q, update;
  logic [MaxLinks-1:0] can_q;  // take this record
  logic [MaxLinks-1:0] busier_q;
  logic [MaxLinks-1:0] low_q;  // on work
  logic [MaxLinks-1:0][PageIdW:0] spare_q;  // pages but for 3: those of the ends of a record, and of two clocks
  wire onto_itself = pick_ring == ring_q;
  logic [MaxLinks-1:0] less_q;  // work than the other link
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
    if (!advance || onto_itself) begin
      if (update) {now_open_q, now_q} <= {next_open, next};
    end else begin
      {now_open_q, now_q} <= {open_q[pick_ring], states[pick_ring]};
    end
    room_q <= room_i[advance?pick_ring : ring_q];
    for (int l = 0; l < MaxLinks; l++) begin
      spare_q[l] <= pages_i[l] > (PageIdW + 1)'(3) ? pages_i[l] - (PageIdW + 1)'(3) : '0;
      can_q[l] <= ok_i[l] && space_i[l] && spare_q[l] > (PageIdW + 1)'((advance ? next_beat.record : beat_q.record) >> PageW);
      less_q[l] <= queued_i[l] < queued_i[1-l];
      low_q[l] <= queued_i[l] < {cfg_i.switch_margin[QueuedW-3:0], 2'd0};
      busier_q[l] <= queued_i[l] > queued_i[1-l] + cfg_i.switch_margin;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      inside_q <= 1'b0;
      open_q <= '0;
      ring_q <= '0;
      now_open_q <= 1'b0;
    end
  end
  wire [LinkW-1:0] other = ~now_q.link;

  wire [OffW-1:0] block_bytes = OffW'(1) << cfg_i.log_block_bytes;
  wire too_long = OffW'(beat_q.record) > block_bytes;
  wire fits = now_q.off + OffW'(beat_q.record) <= block_bytes;
  // A block is left only for a link that is about to run out of work: while both have enough, small blocks cost more than waiting.
  wire change = can_q[other] && low_q[other] && now_q.off != '0 && busier_q[now_q.link]
      && (now_q.off >= cfg_i.switch_bytes || !can_q[now_q.link]);

  // A new block goes to the link with the least work, in turns when it is the same.
  logic last_link_q;
  logic [LinkW-1:0] choice;
  always_comb begin
    choice = ~last_link_q;
    if (less_q[0]) choice = 1'b0;
    if (less_q[1]) choice = 1'b1;
    if (!can_q[choice]) choice = ~choice;
  end

  // Bytes that a beat adds.
  wire [7:0] added = {beat_q.words, 3'd0};
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
  logic open, close, write, leaves;
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
              && (now_q.told != now_q.off || !ok_i[now_q.link] || !cfg_i.enable)) begin
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
        end else if (too_long) begin
          too_long_o = 1'b1;
          dropping_d = 1'b1;
          leaves = 1'b1;
        end else if (now_open_q && (!fits || change || !ok_i[now_q.link])) begin
          if (space_i[now_q.link]) begin
            closing_d = 1'b1;
            piece.work.free = 1'b1;
            piece.valid = 1'b1;
            next.sent = page_off;
            update = 1'b1;
            step_d = Entry;
          end
        end else if (now_open_q) begin
          write = can_q[now_q.link];
          leaves = write;
          packet_o = write;
          waits_o = !write;
          dropping_d = 1'b0;
        end else if (!room_q) begin
          dropped_o = 1'b1;
          dropping_d = 1'b1;
          leaves = 1'b1;
        end else if (can_q[choice]) begin
          open = 1'b1;
          update = 1'b1;
          take[choice] = 1'b1;
          next = '0;
          next_open = 1'b1;
          next.link = choice;
          next.page = page_i[choice];
        end else begin
          waits_o = 1'b1;
        end
      end
    endcase

    if (write) begin
      update   = 1'b1;
      next.off = now_q.off + OffW'(added);
      if (beat_q.sop) begin
        next.packets = now_q.packets + 1'b1;
        if (now_q.told == now_q.off) next.since = time_q;
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

  logic [MaxLinks-1:0][RingW:0] open_blocks_q;
  assign ring_o  = cap_ring_t'(ring_q);
  assign open_o  = open;
  assign close_o = close;
  assign take_o  = take;

  always_ff @(posedge clk_i) begin
    time_q <= time_q + 1'b1;
    step_q <= step_d;
    closing_q <= closing_d;
    dropping_q <= dropping_d;
    if (open) last_link_q <= choice;
    opened_o <= '0;
    if (open) opened_o[choice] <= 1'b1;
    for (int l = 0; l < MaxLinks; l++) begin
      open_blocks_q[l] <= open_blocks_q[l] + (RingW + 1)'(open && choice == LinkW'(l)) - (RingW + 1)'(close && now_q.link == LinkW'(l));
    end
    // A ring found due is examined until its turn has come.
    if (!due_q) begin
      due_q <= scanned_open_q && (stale || ends);
      due_ring_q <= scanned_ring_q;
      scanned_q <= states[scan_q];
      scanned_open_q <= open_q[scan_q];
      scanned_ring_q <= scan_q;
      scan_q <= (scan_q == RingIndexW'(Rings - 1)) ? '0 : scan_q + 1'b1;
    end else if (advance && pick_due) begin
      due_q <= 1'b0;
      scanned_open_q <= 1'b0;
      scan_q <= scanned_ring_q;
    end
    if (rst_i) begin
      time_q <= '0;
      step_q <= Act;
      due_q <= 1'b0;
      scan_q <= '0;
      scanned_open_q <= 1'b0;
      last_link_q <= 1'b1;
      opened_o <= '0;
      open_blocks_q <= '0;
    end
  end

  logic [MaxLinks-1:0] work_under_way;
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
  always_comb begin
    for (int l = 0; l < MaxLinks; l++) using_o[l] = open_blocks_q[l] != '0 || work_under_way[l];
  end

  // Data, turned to where they go in a row of 16 lanes.
  wire [PageIdW+3:0] row = ((PageIdW + 4)'(now_q.page) << RowsW) + (PageIdW + 4)'(page_off >> 7);
  wire [3:0] first = page_off[6:3];
  always_ff @(posedge clk_i) begin
    stage_valid_o <= '0;
    stage_o.valid <= write && !rst_i;
    if (write) begin
      stage_valid_o[now_q.link] <= !rst_i;
      stage_o.row <= row;
      stage_o.next_row <= fills ? (PageIdW + 4)'(page_i[now_q.link]) << RowsW : row + 1'b1;
      stage_o.data <= 1024'({beat_q.data, beat_q.data} >> (12'd1024 - {2'b00, first, 6'd0}));
      for (int i = 0; i < 16; i++) begin
        stage_o.lanes[i]  <= {1'b0, 4'(4'(i) - first)} < beat_q.words;
        stage_o.second[i] <= 4'(i) < first;
      end
    end
  end

  `ASSERT(PagesReserved, (take[0] |-> pages_i[0] != 0) and(take[1] |-> pages_i[1] != 0))
  `ASSERT(StartsWithSop, record.valid && record.ready |-> next_beat.sop == !inside_q)
  `ASSERT(StateIsWhatIsKept, open_q[ring_q] == now_open_q)
  `ASSERT(NeverBeyondBlock, write |-> next.off <= block_bytes)
  `ASSERT(SentWithinPage, write |-> now_q.sent <= page_off)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The packer: packets of all lengths become records packed one after the other in blocks, full-size writes on the links
/// (capture paper, "The DMA Engine groups packets together").
///
/// Each ring has at most one open block, carried by one link: the one with the least work when the block is opened. A block
/// closes when the next record does not fit, when its link has so much more work than the other that balance asks for it
/// (from `switch_bytes` on), or when its link goes down; then all work for it is there and its progress entry follows.
/// Records go to pages of the link's staging memory; a full page is handed to the link as one piece of work, so pieces are
/// aligned in the block whatever the packets are. The flush timer hands over a page that is not full, and an entry; while
/// the link has more than FlushQueued pieces queued it takes eight times as long: no bandwidth is lost to small pieces.
/// One beat a clock, one packet a clock, 1-3 clocks more for a block. A packet begins only when all pages and work places
/// it may need are free on its link, so it is never held up in the middle and never torn. A packet for a ring without a
/// free block, or longer than a block, is dropped whole (`dropped_o`, `too_long_o`). `waits_o`: a packet waits for pages.
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
    logic               open;
    logic [LinkW-1:0]   link;
    logic [PageIdW-1:0] page;
    logic [OffW-1:0]    off;           // bytes in the block
    logic [PageW-1:0]   sent;          // bytes of the page that work is under way for
    logic [23:0]        packets;       // in the block
    logic [OffW-1:0]    told;          // bytes that an entry covers
    logic [23:0]        told_packets;
    logic [23:0]        since;         // first packet no entry covers
  } state_t;
  state_t state_q[Rings];

  beat_t  beat;
  assign beat = in.data;
  logic [23:0] now_q;

  // What is under way across clocks: a packet, its dropping, the entry after the last piece.
  typedef enum logic [1:0] {
    Boundary,
    Inside,
    Dropping,
    Entry
  } step_e;
  step_e step_q, step_d;
  logic [RingIndexW-1:0] ring_q;  // of Inside and Entry
  logic closing_q, closing_d;  // Entry of a block that closes

  // Timer: examines one ring each clock; a ring that is due is served in the next clock between packets.
  logic [RingIndexW-1:0] scan_q, due_ring_q;
  logic   due_q;
  state_t scanned;
  assign scanned = state_q[scan_q];
  wire unused_scanned = &{1'b0, scanned.page, scanned.sent, scanned.packets, scanned.told_packets};
  wire untold = scanned.told != scanned.off;
  wire [23:0] age = now_q - scanned.since;
  wire [23:0] patience = queued_i[scanned.link] > QueuedW'(FlushQueued) ? {1'b0, cfg_i.flush_clocks, 3'd0} : 24'(cfg_i.flush_clocks);
  wire stale = untold && age >= patience;
  wire ends = !ok_i[scanned.link] || (!cfg_i.enable && !in.valid);

  // The ring examined now.
  logic [RingIndexW-1:0] ring;
  always_comb begin
    ring = RingIndexW'(beat.ring);
    if (step_q == Inside || step_q == Entry) ring = ring_q;
    else if (step_q == Boundary && due_q) ring = due_ring_q;
  end
  state_t now, next;
  assign now = state_q[ring];
  logic [LinkW-1:0] other;
  assign other = ~now.link;

  wire [PageIdW:0] needed = (PageIdW + 1)'(beat.record >> PageW) + (PageIdW + 1)'(4);
  logic [MaxLinks-1:0] can;  // take this packet
  always_comb begin
    for (int l = 0; l < MaxLinks; l++) can[l] = ok_i[l] && space_i[l] && pages_i[l] >= needed;
  end

  wire [OffW-1:0] block_bytes = OffW'(1) << cfg_i.log_block_bytes;
  wire too_long = OffW'(beat.record) > block_bytes;
  wire fits = now.off + OffW'(beat.record) <= block_bytes;
  wire busier = queued_i[now.link] > queued_i[other] + cfg_i.switch_margin;
  // A link that is full is left only if the other has less to do: when both are, small blocks would cost more than waiting.
  wire change = can[other] && now.off != '0 && busier && (now.off >= cfg_i.switch_bytes || !can[now.link]);

  // A new block goes to the link with the least work, in turns when it is the same.
  logic last_link_q;
  logic [LinkW-1:0] choice;
  always_comb begin
    choice = ~last_link_q;
    if (queued_i[0] < queued_i[1]) choice = 1'b0;
    if (queued_i[1] < queued_i[0]) choice = 1'b1;
    if (!can[choice]) choice = ~choice;
  end

  // Bytes that a beat adds.
  wire [6:0] padded = {beat.len[6:3] + 4'(|beat.len[2:0]), 3'd0};
  localparam logic [6:0] RecordBytes = 7'($bits(cap_record_t) / 8);
  wire [6:0] head = !beat.sop ? 7'd0 : RecordBytes + (cfg_i.timestamps ? 7'(StampBytes) : '0);
  wire [6:0] added = padded + head;
  wire [PageW-1:0] page_off = now.off[PageW-1:0];
  wire [PageW:0] page_end = {1'b0, page_off} + (PageW + 1)'(added);
  wire fills = page_end[PageW];

  // Work, first half: its address is worked out in the next clock.
  typedef struct packed {
    logic                  valid;
    logic [LinkW-1:0]      link;
    logic [RingIndexW-1:0] ring;
    logic [31:0]           block;
    logic [OffW-1:0]       off;
    work_t                 work;
  } part_t;
  part_t part_d, part_q;

  logic open, close, write, update;
  logic [MaxLinks-1:0] take;

  always_comb begin
    next = now;
    step_d = step_q;
    closing_d = closing_q;
    open = 1'b0;
    close = 1'b0;
    write = 1'b0;
    update = 1'b0;
    take = '0;
    packet_o = 1'b0;
    dropped_o = 1'b0;
    too_long_o = 1'b0;
    waits_o = 1'b0;
    in.ready = 1'b0;
    part_d = '0;
    part_d.link = now.link;
    part_d.ring = ring;
    part_d.block = opened_i[ring] - 1'b1;
    part_d.work.page = now.page;
    part_d.work.from = PageOffW'(now.sent);
    part_d.work.len = PageOffW'(page_off - now.sent);
    part_d.off = {now.off[OffW-1:PageW], now.sent};
    part_d.work.packets = now.packets - now.told_packets;
    part_d.work.bytes = now.off - now.told;
    part_d.work.entry = '{
        link: 8'(now.link),
        packets: now.packets,
        first: packets_i[ring] - 32'(now.packets),
        closed: closing_q,
        seq: 31'(opened_i[ring]),
        bytes: 32'(now.off)
    };

    unique case (step_q)
      Entry: begin
        part_d.valid = 1'b1;
        part_d.work.is_entry = 1'b1;
        next.told = now.off;
        next.told_packets = now.packets;
        next.open = !closing_q;
        close = closing_q;
        update = 1'b1;
        step_d = Boundary;
      end
      Dropping: begin
        in.ready = 1'b1;
        if (in.valid && beat.eop) step_d = Boundary;
      end
      Inside: begin
        in.ready = 1'b1;
        write = in.valid;
        if (in.valid && beat.eop) step_d = Boundary;
      end
      default: begin
        if (due_q) begin
          // A block whose link is down, or all of them at the end, is closed; else it gets an entry. Ends always free the page.
          if (now.open && (now.told != now.off || !ok_i[now.link] || !cfg_i.enable) && space_i[now.link]) begin
            closing_d = !ok_i[now.link] || (!cfg_i.enable && !in.valid);
            part_d.work.free = closing_d;
            part_d.valid = closing_d || now.sent != page_off;
            next.sent = page_off;
            update = 1'b1;
            step_d = Entry;
          end
        end else if (in.valid) begin
          if (too_long) begin
            too_long_o = 1'b1;
            in.ready   = 1'b1;
            if (!beat.eop) step_d = Dropping;
          end else if (now.open && (!fits || change || !ok_i[now.link])) begin
            if (space_i[now.link]) begin
              closing_d = 1'b1;
              part_d.work.free = 1'b1;
              part_d.valid = 1'b1;
              next.sent = page_off;
              update = 1'b1;
              step_d = Entry;
            end
          end else if (now.open) begin
            if (can[now.link]) begin
              in.ready = 1'b1;
              write = 1'b1;
              packet_o = 1'b1;
              if (!beat.eop) step_d = Inside;
            end else begin
              waits_o = 1'b1;
            end
          end else if (!room_i[ring]) begin
            dropped_o = 1'b1;
            in.ready  = 1'b1;
            if (!beat.eop) step_d = Dropping;
          end else if (can[choice]) begin
            open = 1'b1;
            update = 1'b1;
            take[choice] = 1'b1;
            next = '0;
            next.open = 1'b1;
            next.link = choice;
            next.page = page_i[choice];
          end else begin
            waits_o = 1'b1;
          end
        end
      end
    endcase

    if (write) begin
      update   = 1'b1;
      next.off = now.off + OffW'(added);
      if (beat.sop) begin
        next.packets = now.packets + 1'b1;
        if (now.told == now.off) next.since = now_q;
      end
      if (fills) begin
        part_d.valid = 1'b1;
        part_d.work.free = 1'b1;
        part_d.work.len = PageOffW'(PageBytes) - PageOffW'(now.sent);
        next.sent = '0;
        next.page = page_i[now.link];
        take[now.link] = 1'b1;
      end
    end
  end

  assign ring_o  = cap_ring_t'(ring);
  assign open_o  = open;
  assign close_o = close;
  assign take_o  = take;

  always_ff @(posedge clk_i) begin
    now_q <= now_q + 1'b1;
    step_q <= step_d;
    closing_q <= closing_d;
    if (step_q == Boundary) ring_q <= ring;
    if (update) state_q[ring] <= next;
    if (open) last_link_q <= choice;
    opened_o <= '0;
    if (open) opened_o[choice] <= 1'b1;
    // A ring found due is examined until its turn has come.
    if (!due_q) begin
      due_q <= scanned.open && (stale || ends);
      due_ring_q <= scan_q;
      scan_q <= (scan_q == RingIndexW'(Rings - 1)) ? '0 : scan_q + 1'b1;
    end else if (step_q == Boundary) begin
      due_q <= 1'b0;
    end
    part_q <= part_d;
    if (rst_i) begin
      now_q <= '0;
      step_q <= Boundary;
      due_q <= 1'b0;
      scan_q <= '0;
      last_link_q <= 1'b1;
      opened_o <= '0;
      part_q.valid <= 1'b0;
      for (int r = 0; r < Rings; r++) state_q[r].open <= 1'b0;
    end
  end

  // Work, second half.
  wire [31:0] block_mask = ~(32'hffff_ffff << cfg_i.log_blocks);
  wire [31:0] index = (32'(part_q.ring) << cfg_i.log_blocks) | (part_q.block & block_mask);
  logic [LinkW-1:0] work_link_q;
  logic work_full_q;
  always_ff @(posedge clk_i) begin
    work_valid_o <= '0;
    work_full_q  <= part_q.valid && !rst_i;
    if (part_q.valid) begin
      work_valid_o[part_q.link] <= !rst_i;
      work_o <= part_q.work;
      work_link_q <= part_q.link;
      work_o.addr <= part_q.work.is_entry ? cfg_i.progress + 64'({index, 4'd0})
                                          : cfg_i.base + (64'(index) << cfg_i.log_block_bytes) + 64'(part_q.off);
    end
  end

  always_comb begin
    using_o = '0;
    for (int r = 0; r < Rings; r++) if (state_q[r].open) using_o[state_q[r].link] = 1'b1;
    if (part_q.valid) using_o[part_q.link] = 1'b1;
    if (work_full_q) using_o[work_link_q] = 1'b1;
  end

  // Data, first half: header and bytes side by side.
  localparam int LineLanes = 10;
  cap_record_t header;
  assign header = '{
          hash: beat.hash,
          unused: '0,
          stamped: cfg_i.timestamps,
          bytes: 16'(beat.bytes),
          stored: 16'(beat.bytes)
      };
  logic line_valid_q;
  logic [LineLanes*64-1:0] line_q;
  logic [3:0] line_start_q;
  logic [4:0] line_lanes_q;
  logic [LinkW-1:0] line_link_q;
  logic [PageIdW+3:0] line_row_q, line_next_q, row;
  assign row = ((PageIdW + 4)'(now.page) << RowsW) + (PageIdW + 4)'(page_off >> 7);
  always_ff @(posedge clk_i) begin
    line_valid_q <= write && !rst_i;
    if (write) begin
      line_q <= !beat.sop ? (LineLanes * 64)'(beat.data)
              : cfg_i.timestamps ? {beat.data, 16'd0, beat.stamp, header} : {64'd0, beat.data, header};
      line_start_q <= page_off[6:3];
      line_lanes_q <= 5'(added >> 3);
      line_link_q <= now.link;
      line_row_q <= row;
      line_next_q <= fills ? (PageIdW + 4)'(page_i[now.link]) << RowsW : row + 1'b1;
    end
  end

  wire [1023:0] line_row = 1024'(line_q);
  function automatic logic [3:0] from_start(logic [3:0] lane, logic [3:0] first);
    return lane - first;
  endfunction

  // Second half: turned to where they go in a row of 16 lanes.
  always_ff @(posedge clk_i) begin
    stage_valid_o <= '0;
    stage_o.valid <= line_valid_q && !rst_i;
    if (line_valid_q) begin
      stage_valid_o[line_link_q] <= !rst_i;
      stage_o.row <= line_row_q;
      stage_o.next_row <= line_next_q;
      stage_o.data <= 1024'({line_row, line_row} >> (12'd1024 - {2'b00, line_start_q, 6'd0}));
      for (int i = 0; i < 16; i++) begin
        stage_o.lanes[i]  <= {1'b0, from_start(4'(i), line_start_q)} < line_lanes_q;
        stage_o.second[i] <= 4'(i) < line_start_q;
      end
    end
  end

  `ASSERT(PagesReserved, take[0] |-> pages_i[0] != 0)
  `ASSERT(PagesReserved1, take[1] |-> pages_i[1] != 0)
  `ASSERT(StartsWithSop, in.valid && in.ready |-> beat.sop == (step_q == Boundary))
  `ASSERT(NeverBeyondBlock, write |-> next.off <= block_bytes)
  `ASSERT(SentWithinPage, write |-> now.sent <= page_off)
endmodule

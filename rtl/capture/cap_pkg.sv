// SPDX-License-Identifier: Apache-2.0
/// Packet capture into host memory over several PCIe links: what lies in host memory, and what goes between the blocks of
/// rtl/capture.
package cap_pkg;
  localparam int MaxLinks = 2;
  localparam int BeatBytes = eth_pkg::WideBeatBytes;
  localparam int RingW = 5;  // 32 rings at the most
  localparam int LenW = 15;  // packets of up to 16 kB, and their records
  localparam int OffW = 21;  // bytes in a block, up to 1 MB
  localparam int PageIdW = 12;  // pages of a link
  localparam int PageOffW = 11;  // bytes in a page, up to 1 kB
  localparam int QueuedW = 16;
  localparam int FilterEntries = 4;

  typedef logic [RingW-1:0] cap_ring_t;

  /// What is known of a packet before it is stored.
  typedef struct packed {
    logic        drop;   // by a filter
    logic [31:0] hash;
    logic [47:0] stamp;
  } info_t;

  /// One beat of a whole packet; the note comes with the first one and stays.
  typedef struct packed {
    logic [7:0]             len;     // of this beat
    logic                   sop;
    logic                   eop;
    logic [LenW-1:0]        bytes;   // of the packet
    logic [LenW-1:0]        record;  // bytes of its record: header, packet, padding
    cap_ring_t              ring;
    logic [23:0]            hash;
    logic [47:0]            stamp;
    logic [8*BeatBytes-1:0] data;
  } beat_t;

  /// One beat of a record on its way to the packer: full, but the last one.
  typedef struct packed {
    logic [4:0]             words;   // of 8 bytes
    logic                   sop;
    logic                   eop;
    logic [LenW-1:0]        record;  // bytes of the record; with sop, as ring
    cap_ring_t              ring;
    logic [8*BeatBytes-1:0] data;
  } record_beat_t;

  /// A progress entry.
  typedef struct packed {
    logic [7:0] link;  // that carries the block
    logic [23:0] packets;  // in the valid bytes
    logic [31:0] first;    // packets given to the ring before this block, so that a consumer counts what a lost block held
    logic closed;  // nothing more will come in this block
    logic [30:0] seq;  // sequence number of the block
    logic [31:0] bytes;  // valid in the block, whole packets
  } cap_entry_t;

  /// First 8 bytes of a record in a block. With `stamped` StampBytes follow, the time in ns; then the packet, padded with
  /// undefined bytes to a multiple of 8.
  typedef struct packed {
    logic [23:0] hash;     // of the flow, bits 23:0
    logic [6:0]  unused;
    logic        stamped;
    logic [15:0] bytes;    // of the packet
    logic [15:0] stored;   // of these, in the record
  } cap_record_t;
  localparam int StampBytes = 8;

  /// Work for a link, done in order.
  typedef struct packed {
    logic                      is_entry;  // else data: part of a page
    logic                      free;      // the page is free when this is done
    logic [PageIdW-1:0]        page;
    logic [PageOffW-1:0] from;            // in the page
    logic [PageOffW-1:0]       len;       // 0: only to free the page
    logic [63:0]               addr;
    cap_entry_t                entry;
    logic [23:0]               packets;   // that no entry before this one covers
    logic [OffW-1:0]           bytes;
  } work_t;

  /// The same before its address is worked out.
  typedef struct packed {
    logic            valid;
    logic            link;
    cap_ring_t       ring;
    logic [OffW-1:0] off;    // in the block
    work_t           work;   // without addr, and entry.first, entry.seq
  } cap_piece_t;

  /// A write to staging memory: 16 lanes of 8 bytes, those that wrapped around go to the second row.
  typedef struct packed {
    logic [15:0]        lanes;
    logic [15:0]        second;
    logic [PageIdW+3:0] row;       // {page, row in page} at the most 8 rows a page
    logic [PageIdW+3:0] next_row;
    logic [1023:0]      data;
  } stage_write_t;

  typedef struct packed {
    logic        enable;
    logic        drop;
    logic [31:0] src_ip;
    logic [31:0] src_mask;
    logic [31:0] dst_ip;
    logic [31:0] dst_mask;
    logic [31:0] ports;
    logic [31:0] ports_mask;
    logic [7:0]  protocol;
    logic [7:0]  protocol_mask;
  } filter_t;

  typedef struct packed {
    logic               timestamps;
    logic               enable;
    logic [4:0]         log_block_bytes;
    logic [4:0]         log_blocks;
    logic [19:0]        flush_clocks;
    logic [OffW-1:0]    switch_bytes;
    logic [QueuedW-1:0] switch_margin;
    logic [63:0]        base;
    logic [63:0]        progress;
  } pack_cfg_t;

  typedef struct packed {
    logic            enable;
    logic [31:0]     seed;
    logic [LenW-1:0] len_min;
    logic [LenW-1:0] len_max;
    logic [15:0]     flow_mask;
    logic [23:0]     rate;
    logic [31:0]     count;
  } gen_cfg_t;

  // Register words of a ring (word address bits 2:0).
  localparam logic [2:0] RingRegReturned = 3'd0, RingRegClosed = 3'd1, RingRegOpened = 3'd2, RingRegPackets = 3'd3,
  RingRegDropped = 3'd4;

  /// What a link is doing; `opened` for a clock when a block is given to it.
  typedef struct packed {
    logic        up;
    logic        idle;
    logic        in_use;
    logic [15:0] queued;
    logic        opened;
    logic [31:0] bytes;
    logic [31:0] entries;
    logic [31:0] lost_blocks;
    logic [31:0] lost_packets;
    logic [31:0] lost_bytes;
  } cap_link_status_t;

  /// What is counted, each for one clock.
  typedef struct packed {
    logic buffer_full;
    logic filtered;
    logic captured;
    logic ring_full;
    logic too_long;
    logic bad_return;
    logic page_wait;
    logic foreign;
    logic refused;      // register accesses
  } cap_events_t;
endpackage

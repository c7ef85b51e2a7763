// SPDX-License-Identifier: Apache-2.0
/// Queues between host and NIC: what lies in host memory, and what the queue blocks say to each other.
///
/// A descriptor queue (TX or RX) is a ring of slots; a slot is 1, 2, 4 or 8 descriptors of 16 bytes and describes one
/// packet (a descriptor of length 0 ends it early). A completion queue and an event queue are rings of 16-byte records
/// whose bit 31 is the phase: 1 in the first pass over the ring, then toggling, so that the host sees new records without
/// asking the NIC. Rings hold 2^log_size slots or records, 8 ... 32768; the base address is a multiple of 4096 (so eight
/// descriptors or records from an index that is a multiple of eight never straddle 128 bytes). Pointers count modulo 65536.
///
/// A receive queue can be a stream instead: its slots are granules of 16 bytes of a ring of 2^log_size granules (at most 512 kB) that
/// is filled downwards: granule n lies at base + 16 * (2^log_size - 1 - n modulo 2^log_size). A frame takes as many as it needs, in
/// one piece: in the first its record (stream_cpl_t), right below that the frame, which begins on a multiple of four bytes; up to
/// three bytes between the two mean nothing, nor does what is left of the lowest granule. So the record is what a write of increasing addresses makes visible last, and one small
/// frame, or several one behind the other, is one write. A frame that begins near the ring's end runs on below `base`, where as many bytes as the longest takes must be
/// the queue's own; the next one begins modulo the ring. There are no descriptors, no completions and no phases: the
/// host gives space back (producer: granules it has offered) filled with zeros, so that a record is there where a phase bit is.
///
/// A transmit queue can be a stream instead: its slots are granules of 16 bytes that hold the packets themselves, each a head (desc_t
/// without address) and behind it the packet, padded to a granule; 60 to 4096 bytes. A packet crosses neither the ring's end nor a multiple
/// of 64 kB of it: a head of length 0 says that nothing comes until there. The producer always lies behind a packet. What is ready
/// up to such a border is a turn, which is read in large pieces; each piece has one completion record (csum: the index behind it, hash:
/// how many packets left with it, timestamp: of the last of them).
package queue_pkg;
  localparam int PushEntries = 4;  // descriptors that the device holds which the CPU has pushed
  localparam int PushBytes = 240;  // of a packet pushed with its descriptor, at the most
  localparam int BlockSlots = 8;  // descriptors or records moved in one DMA transfer at the most

  localparam int QueueBytes = 32;  // of registers, from one queue to the next
  localparam int CoalesceMostBytes = 16383;  // of an aggregate of TCP segments
  localparam int CoalesceMostClocks = 50000;  // that it waits for more

  /// What the queues of a queue manager can be besides rings of descriptors.
  typedef logic [1:0] streams_t;
  localparam streams_t StreamsNone = 2'd0;
  localparam streams_t StreamsFilled = 2'd1;  // by the device, as many granules a frame as are asked for
  localparam streams_t StreamsEmptied = 2'd2;  // by the device, in turns

  typedef logic [15:0] queue_t;
  typedef logic [15:0] ring_ptr_t;

  typedef struct packed {
    logic [15:0] slot;  // pushed: its index in the ring, before wrapping; else with `vlan`: TX: the VLAN tag to be put in (its TCI)
    logic [7:0] csum_offset;  // TX: where the checksum goes, in bytes from csum_start
    logic [7:0] csum_start;  // TX: first byte summed
    logic [3:0] reserved;
    logic headers;  // RX, of a slot's first buffer: takes the headers of a frame of TCP or UDP alone, the other buffers the rest
    logic cut;  // TX: the packet is a TCP segment too long for a frame, up to 64 kB, and becomes several, of so many bytes of payload each:
    logic [5:0] mss_high;  // bits 13:8 of that number, csum_offset holds bits 7:0; csum_start says where the TCP header is; not pushed
    logic service;  // TX: of a tag: 802.1ad's, not 802.1Q's
    logic        vlan;         // TX: a tag is put in behind the addresses, and counts in the frame's length; such are not pushed
    logic        inlined;      // pushed: the packet follows, up to PushBytes; else and elsewhere it lies at `addr`
    logic csum_enable;  // TX
    logic [15:0] len;  // in bytes
    logic [63:0] addr;
  } desc_t;

  typedef struct packed {
    logic [39:0] timestamp;  // PTP time in ns, modulo 2^40; RX, of a slot with a buffer for headers: split_stamp_t
    logic [7:0] flags;  // RX: rx_flags_t; TX: 0, or rx_flags_t.port where ports share their queues
    logic [15:0] csum;  // RX: ones' complement sum from byte 14 on; TX: 0, or the slot's index, before wrapping, where ports share their queues
    logic [31:0] hash;       // RX: flow hash; of a frame whose tag was taken out (flags) the tag is its upper half; TX: frames that a packet with `cut` became
    logic phase;  // set by the completion writer
    logic error;  // the packet was not sent, or is not whole
    logic [13:0] len;  // packet bytes, without FCS; of one with `cut` modulo 16384
    queue_t queue;  // descriptor queue
  } cpl_t;

  /// A stamp that has made room for the length of the headers which lie in a buffer of their own.
  typedef struct packed {
    logic [4:0]  words;  // of four bytes behind byte 14; 0: they have none, the frame is whole in the other buffers
    logic [34:0] ns;  // PTP time, modulo 2^35
  } split_stamp_t;

  /// The record of a frame in a stream queue: as cpl_t, but what says that it is there lies at its end.
  typedef struct packed {
    logic        phase;      // 1
    logic        error;
    logic [13:0] len;
    logic [15:0] reserved;
    logic [39:0] timestamp;
    logic [7:0]  flags;
    logic [15:0] csum;
    logic [31:0] hash;
  } stream_cpl_t;

  typedef struct packed {
    logic [1:0] stripped;   // the tag that was taken out: 1 802.1Q's, 2 802.1ad's, 0 none
    logic [1:0] port;
    logic [3:0] hash_type;  // rx_hash
  } rx_flags_t;

  typedef enum logic [7:0] {
    ErrNone        = 8'd0,
    ErrDoorbell    = 8'd1,  // producer pointer further ahead than the ring is long
    ErrNullAddress = 8'd2,  // descriptor with address 0
    ErrUnsupported = 8'd3,  // the host refused the address
    ErrAborted     = 8'd4,
    ErrPoisoned    = 8'd5,
    ErrTimeout     = 8'd6,
    ErrLength      = 8'd7,  // packet empty, or longer than the MTU allows
    ErrOverflow    = 8'd8,  // completion or event queue full: a record was lost
    ErrSegments    = 8'd9   // packet that cannot be cut into TCP segments
  } error_e;

  typedef enum logic [7:0] {
    EvtTxCpl = 8'd0,
    EvtRxCpl = 8'd1,
    EvtTxError = 8'd2,  // source: descriptor queue; code: error_e
    EvtRxError = 8'd3,
    EvtTxCqError = 8'd4,  // source: completion queue
    EvtRxCqError = 8'd5
  } event_e;

  typedef struct packed {
    logic [79:0] reserved1;
    error_e      code;
    logic [7:0]  reserved0;
    logic        phase;
    logic [6:0]  reserved2;
    event_e      kind;
    queue_t      source;
  } event_t;

  /// Registers that virtual functions have shares of, in the order in which their places are told (function_regs, function_clear); those of
  /// the scheduler of each port follow.
  localparam int ShareModeration = 0, ShareVectors = 1, ShareTxq = 2, ShareRxq = 3, ShareTxcq = 4, ShareRxcq = 5, ShareEq = 6,
      ShareSched = 7;

  /// Bytes from one of them to the next.
  function automatic int share_stride(int share);
    unique case (share)
      ShareVectors: return 16;  // an entry of an MSI-X table
      ShareTxq, ShareRxq, ShareTxcq, ShareRxcq, ShareEq: return QueueBytes;
      default: return 4;
    endcase
  endfunction

  /// Addresses of the registers that say what a device is, for function_regs: those of the device from `device` to below `device_end`, of
  /// the interface likewise, of them those that are told otherwise to a function, and which bit of `features` says that it is a virtual one.
  typedef struct packed {
    logic [31:0] device;
    logic [31:0] device_end;
    logic [31:0] vectors;
    logic [31:0] functions;
    logic [31:0] interface_begin;
    logic [31:0] interface_end;
    logic [31:0] tx_queues;
    logic [31:0] rx_queues;
    logic [31:0] event_queues;
    logic [31:0] rss_entries;
    logic [31:0] features;
    logic [4:0]  virtual_bit;
    logic [31:0] tx_stat_offset;
    logic [31:0] rx_stat_offset;
    logic [31:0] pending;
  } told_at_t;

  /// Whose a queue is, where each function has so many.
  function automatic pcie_pkg::function_t owner_of(queue_t queue, int each);
    return 8'(queue >> $clog2(each));
  endfunction
  /// Its number among those.
  function automatic queue_t own_number(queue_t queue, int each);
    return queue & 16'(each - 1);
  endfunction

  /// Any 16-byte record bound for completion or event queue `cq`; bit 31 is filled in on the way.
  typedef struct packed {
    queue_t       cq;
    logic [127:0] record;
  } record_t;

  /// A packet's record (cpl_t) that numbers its queue among those of a function.
  function automatic record_t numbered(record_t record, int each);
    cpl_t cpl;
    cpl = record.record;
    cpl.queue = own_number(cpl.queue, each);
    return '{cq: record.cq, record: cpl};
  endfunction

  // Register words of a descriptor queue (word address bits 2:0). Unused words read 0.
  localparam logic [2:0] QRegBaseLo = 3'd0,  // bits 31:12 of the base address; bit 0: a stream
  QRegBaseHi = 3'd1,
  // bit 0 enable (RW), bit 1 stopped by an error (RO, cleared by writing enable), 7:4 log_size, 9:8 log_block,
  // 23:16 error_e of the stop (RO)
  QRegControl = 3'd2, QRegCq = 3'd3,  // 15:0 completion queue
  QRegProducer = 3'd4,  // 15:0, written by the host: the doorbell
  QRegConsumer = 3'd5;  // 15:0 slots finished by the NIC (RO), 31:16 slots handed out (RO)

  // Register words of a completion or event queue.
  localparam logic [2:0] CqRegBaseLo = 3'd0, CqRegBaseHi = 3'd1,
  // bit 0 enable (RW), bit 1 a record was lost (RO, cleared by writing enable), 7:4 log_size
  CqRegControl = 3'd2,
      CqRegTarget = 3'd3,  // 15:0 event queue, or interrupt vector for an event queue
  CqRegConsumer = 3'd4,  // 15:0 consumer pointer, bit 31 arm: notify once when a record is there
  CqRegProducer = 3'd5;  // 15:0 (RO) records written

  // Register words of counters in RAM (word address bits 3:0); each counter has two, the lower half first.
  localparam logic [3:0] StatRegSelect = 4'd0, StatRegNonzero = 4'd1, StatRegBusyLo = 4'd2, StatRegBusyHi = 4'd3,
  StatRegPacketsLo = 4'd8;

  /// What the host wrote to a queue's Producer word.
  typedef struct packed {
    queue_t    queue;
    ring_ptr_t producer;
  } rung_t;
  localparam int GranuleBytes = 16;  // of a stream queue's ring
  typedef logic [9:0] granules_t;  // as many as the longest frame and its record take

  /// Ask for up to `max` slots of a queue; or, with none, only for what is ready in their block.
  typedef struct packed {
    queue_t queue;
    logic [3:0] max;  // 1 ... 8; 0: a peek, where the queue manager has `Peeks`
    granules_t granules;  // StreamsFilled: all of them or none; 0: the asker has nothing for a stream, or peeks
  } deq_req_t;

  typedef enum logic [1:0] {
    DeqOk      = 2'd0,
    DeqEmpty   = 2'd1,
    DeqStopped = 2'd2   // disabled, or stopped by an error
  } deq_status_e;

  localparam int TurnGranules = 4096;  // at the most
  localparam int PageGranules = 4096 / GranuleBytes;  // no read of a turn crosses a multiple
  typedef logic [$clog2(TurnGranules+1)-1:0] turn_t;

  /// The answer: `count` slots from `index` on are the asker's. They and `ahead` more that are not yet handed out lie in
  /// one block of BlockSlots descriptors, so they may be read together. Of the block behind it `next` slots are ready.
  typedef struct packed {
    queue_t queue;
    deq_status_e status;
    logic [3:0] count;
    logic [3:0] ahead;
    logic [3:0] next;
    logic wraps;  // the block behind is the ring's first
    logic more;  // the queue is not empty after this
    logic peek;  // `max` was 0
    logic peeked;  // a peek before this found slots, since the ring was set up
    ring_ptr_t index;  // of the first slot, before wrapping
    logic [63:0] addr;  // of the first slot's first descriptor
    logic [3:0] log_size;
    logic [1:0] log_block;
    logic        stream;     // one slot: the granules asked for, `addr` where the record goes (StreamsFilled); or a turn of so many
    turn_t granules;  // from `addr` on (StreamsEmptied)
    queue_t cq;
  } deq_rsp_t;

  /// `count` slots are finished with.
  typedef struct packed {
    queue_t     queue;
    logic [8:0] count;
  } commit_t;

  /// Something went wrong with a queue. As a command to the queue manager: stop it.
  typedef struct packed {
    queue_t queue;
    error_e code;
  } queue_error_t;

  /// Ask for the next record's place in a completion queue.
  typedef struct packed {
    queue_t      cq;
    logic        ok;     // enabled and not full; otherwise the record is lost (counted, reported)
    ring_ptr_t   index;  // before wrapping
    logic        phase;
    logic [63:0] addr;   // of the record
  } enq_rsp_t;

  /// A completion queue has records and was armed.
  typedef struct packed {
    queue_t cq;
    queue_t target;  // event queue or interrupt vector
  } notify_t;

  /// Scheduler to descriptor fetch: send up to `max` packets of `queue`.
  typedef deq_req_t grant_t;

  /// Descriptor fetch to scheduler: what a grant found, in the order of the grants.
  typedef struct packed {
    queue_t      queue;
    deq_status_e status;
    logic [3:0]  count;
    logic        more;
  } granted_t;

  /// The transmit schedulers there are (rtl/sched).
  typedef enum logic [2:0] {
    SchedRr,
    SchedStrict,
    SchedDrr,
    SchedTdma,
    SchedRate,
    SchedPieo
  } sched_e;

  /// Those with a rate limit a queue (rate_buckets), a bit each.
  localparam logic [7:0] SchedLimited = 8'(1 << SchedRate | 1 << SchedPieo);

  /// Transmit engine to scheduler: one packet has left (or failed), in the order of the grants.
  typedef struct packed {
    queue_t      queue;
    logic [13:0] bytes;
  } sent_t;

  typedef logic [23:0] queue_bytes_t;

  /// What has become of packets of a queue, for its counters (stat_ram): bytes are those of the good ones, as the host has them.
  typedef struct packed {
    queue_t       queue;
    logic [15:0]  packets;
    queue_bytes_t bytes;
    logic         error;
    logic         drop;
  } queue_count_t;

  /// Classes of a port's frames (port_counts), each of eight rows of counters: by size with FCS, from 0, 64, 65, 128, 256, 512, 1024 and 1519
  /// bytes on; of ClassLost by what it was lost for.
  typedef enum logic [2:0] {
    ClassUnicast,  // good
    ClassMulticast,  // good, but for the next three
    ClassBroadcast,  // good
    ClassPause,  // good, to the address of MAC control frames
    ClassPfc,  // likewise
    ClassFcs,  // bad: received with a MAC error, sent as such; shorter than 64 bytes: a fragment
    ClassLength,  // bad: shorter than 64 bytes, or longer than the maximum; of such a one what came until then
    ClassLost  // received and lost before a queue was found (lost_e): in no other class, or in one of the good ones too
  } frame_class_e;

  /// What received frames of ClassLost were lost for; of the first their bytes are not known.
  typedef enum logic [2:0] {
    LostCrossing,  // no room between the clocks; in no other class
    LostBuffer,  // no room in the packet buffer
    LostHook  // rx_hook
  } lost_e;

  typedef logic [$clog2(PushEntries)-1:0] push_entry_t;

  /// Descriptor fetch to push_table: the answer of a dequeue moves on (`step`; what push_table found for the one before is
  /// then used up). `single`: it hands out one slot of one descriptor, and no more are ready in its block.
  typedef struct packed {
    logic      step;
    logic      valid;
    logic      single;
    queue_t    queue;
    ring_ptr_t index;
    logic      used;    // of the one before: its packet was taken from the push
  } push_look_t;

  /// push_table to descriptor fetch: what the CPU has pushed for that slot, until the next step.
  typedef struct packed {
    logic        valid;
    push_entry_t entry;
    desc_t       desc;
  } push_found_t;

  /// push_table to the engines: 64 bytes of a pushed packet. Piece 0 of line 0 is its descriptor.
  typedef struct packed {
    logic         valid;
    push_entry_t  entry;
    logic [1:0]   line;
    logic [511:0] data;
  } push_store_t;

  /// Descriptor fetch to an engine: one descriptor, or of a stream queue a place in its ring.
  typedef struct packed {
    queue_t queue;
    queue_t cq;
    deq_status_e status;  // not DeqOk: no descriptor follows for this request, this beat stands alone
    dma_pkg::dma_result_e result;  // of reading the descriptor
    logic last;  // last descriptor of its packet
    logic inlined;  // the packet was pushed: the engine has it in `entry`
    push_entry_t entry;
    logic stream;  // StreamsFilled: only desc.addr counts, where the record goes; StreamsEmptied: a page or less of a turn: it lies at
    logic ends;  // `addr`, `len` bytes, in front of index `slot`, and ends the turn or not
    ring_ptr_t index;  // of the packet's slot, before wrapping, where several ports share its queue; of a stream and elsewhere 0
    desc_t desc;
  } desc_beat_t;

  /// What moves in a clock between scheduler, descriptor fetch and engine behind a grant: the answer to one, a packet that has left, a
  /// descriptor as it goes to the engine.
  typedef struct packed {
    logic       granted_valid;
    logic       granted_ready;
    granted_t   granted;
    logic       sent_valid;
    logic       sent_ready;
    sent_t      sent;
    logic       beat_valid;
    logic       beat_ready;
    desc_beat_t beat;
  } behind_grant_t;

  /// Index of the engine behind a shared descriptor fetch.
  typedef logic [1:0] port_t;

  typedef struct packed {
    port_t    port;
    deq_req_t req;
  } fetch_req_t;

  typedef struct packed {
    port_t    port;
    granted_t granted;
  } fetch_granted_t;

  typedef struct packed {
    port_t      port;
    desc_beat_t beat;
  } fetch_desc_t;

  /// The queues to the ports that share them.
  typedef struct packed {
    logic                 rx_streams;  // some are streams
    logic [3:0]           burst;       // packets of a queue in its turn,
    logic [15:0]          in_flight;   // and granted and not yet sent
    pcie_pkg::functions_t in_reset;    // virtual functions, until what they had under way has ended
  } queues_tell_t;

  /// A port to the queues that it shares with others.
  typedef struct packed {
    logic                   crowded;       // three quarters of the packet RAM wait for the link
    logic                   pressed;       // half of it does
    logic [PushEntries-1:0] release_push;  // done with what the CPU has pushed
  } port_tells_t;

  /// What descriptor fetch did in this clock, for counters.
  typedef struct packed {
    logic read;    // a block is read
    logic hit;     // a request was served from a block read before
    logic pushed;  // a request was served from what the CPU has pushed
    logic failed;  // a read ended with an error
  } fetch_events_t;

  /// What completion write did in this clock, for counters.
  typedef struct packed {
    logic lost;     // the queue had no room: the record is gone
    logic write;    // a line of records is written
    logic expired;  // a line was closed because of its age
    logic evicted;  // a line was closed to make room
    logic failed;   // a write ended with an error
  } cpl_write_events_t;
endpackage

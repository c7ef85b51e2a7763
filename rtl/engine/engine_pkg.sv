// SPDX-License-Identifier: Apache-2.0
/// What the blocks of an Ethernet port (packet buffers, transmit and receive engine) say to each other.
package engine_pkg;
  /// Packet RAMs are allocated in these: a beat of the core, a row of the RAM.
  localparam int UnitBytes = dma_pkg::RowBytes;
  localparam int UnitLaneW = $clog2(UnitBytes);

  /// What a port is built with (register `features` of host-nic).
  typedef struct packed {
    logic filter;    // of PCI functions each has its address and its indirection table (function_filter)
    logic coalesce;  // consecutive segments of a TCP flow are joined
    logic split;  // headers of received frames can go to buffers of their own
    logic shared;  // queues are all ports', not one's each
    logic segments;  // long TCP packets are cut into frames
    logic vlan;  // tags are put in and taken out
  } built_t;

  /// Aggregates of TCP segments that a port can have open at once: one a queue, by the low bits of its number among its function's.
  /// Each PCI function has as many places as the others, one at the least.
  localparam int Aggregates = 32, MostAggregates = pcie_pkg::MostFunctions;
  typedef logic [$clog2(MostAggregates)-1:0] aggregate_t;
  function automatic int aggregates_of(int functions);
    return functions > Aggregates ? functions : Aggregates;
  endfunction
  /// The place, of `all`, of a queue of a device with so many functions, each of which has `queues`.
  function automatic aggregate_t aggregate_of(queue_pkg::queue_t queue, int functions, int queues,
                                              int all);
    int places = all / functions;
    return aggregate_t'(32'(queue_pkg::owner_of(
        queue, queues
    )) << $clog2(
        places
    )) | aggregate_t'(queue_pkg::own_number(
        queue, queues
    ) & 16'(places - 1));
  endfunction

  /// What a frame is to the records: a slot and a record of its own, or of an aggregate of several the first, or one of the others.
  typedef enum logic [1:0] {
    Alone,
    Opens,
    Follows,
    Closes    // no frame: the aggregate is complete; `len` and `info` are those of all of it
  } rx_join_e;

  /// What aggregates may have; changes hold for those that are opened later.
  typedef struct packed {
    logic [13:0] bytes;   // headers of one frame and payload of all; 0: none is opened
    logic [15:0] clocks;  // that one stays open at the most
  } rx_coalesce_t;

  /// A received frame in the packet RAM.
  typedef struct packed {
    dma_pkg::ram_addr_t addr;  // a multiple of UnitBytes
    logic [13:0] len;
    queue_pkg::queue_t queue;  // filled in by rss_table
    logic recorded;  // its record lies behind it, from the next multiple of four bytes on
    rx_join_e join_as;  // these two filled in by rx_coalesce
    aggregate_t aggregate;
    eth_pkg::rx_info_t info;
  } rx_meta_t;

  /// The queue had no slot for the first frame of an aggregate, so none of its frames has a place; valid for one clock, never refused.
  typedef struct packed {
    logic       valid;
    aggregate_t aggregate;
  } rx_slotless_t;

  /// The oldest frame in the packet RAM is no longer needed; valid for one clock, never refused.
  typedef struct packed {
    logic       valid;
    logic [8:0] count;  // in units of UnitBytes
  } rx_free_t;

  /// A frame with its record in one row of the packet RAM, on its way into a stream queue's ring.
  typedef struct packed {
    queue_pkg::queue_t queue;
    logic [59:0] place;  // of the record in host memory, in granules
    dma_pkg::row_addr_t row;
    logic [5:0] dws;  // of frame and record
  } rx_piece_t;

  /// What becomes of a received frame.
  typedef enum logic [2:0] {
    Whole,
    Truncated,
    NoDescriptor,
    QueueStopped,
    BadDescriptor
  } rx_fate_e;

  /// Frames that rx_engine finished: each bit high for one clock for each frame of its kind.
  typedef struct packed {
    logic delivered;
    logic no_descriptor;     // dropped: queue empty
    logic queue_stopped;     // dropped: queue disabled or stopped
    logic descriptor_error;  // dropped: null address, or the descriptor could not be read
    logic dma_error;         // the packet data could not be written
    logic truncated;         // longer than its descriptors
  } rx_engine_count_t;

  /// Longest packet of descriptors, in bytes: of one frame, and of one that is cut into segments.
  localparam int LongestFrame = 16384, LongestPacket = 65536;

  /// Longest frame in a stream queue, without FCS: what mac_tx holds back until it is there to its end.
  localparam int StreamFrame = 4096;

  /// A packet that left for the wire, or failed; or a piece of a stream queue's turn.
  typedef struct packed {
    queue_pkg::queue_t    queue;
    queue_pkg::queue_t    cq;
    logic [13:0]          len;
    logic                 error;
    logic                 cut;       // into segments
    logic                 stream;
    logic                 ends;      // the turn
    logic [8:0]           granules;  // of the piece,
    queue_pkg::ring_ptr_t index;     // and the ring's index behind it; of a packet its slot
  } tx_done_t;

  /// Whether a packet is to be cut into TCP segments, and of how many bytes of payload.
  typedef struct packed {
    logic        cut;
    logic [13:0] bytes;
  } tx_mss_t;

  /// A unit out of the packet RAM: of a packet, or of a piece of a stream queue's turn.
  typedef struct packed {
    eth_pkg::tx_csum_t csum;
    logic stream;
    logic [2:0] from;  // of a turn's first unit: 16 bytes that are not its own
    logic ends;  // the turn
    logic fail;  // the piece could not be read
    logic cut;  // into TCP segments of `mss` bytes each; a packet of `total` bytes
    logic [13:0] mss;
    logic [15:0] total;
    eth_pkg::wide_beat_t beat;  // of a piece: sop and eop are its own, len counts from the unit's first byte on
  } tx_unit_t;

  /// The same before it was read: all but the data.
  typedef struct packed {
    logic sop;
    logic eop;
    logic [UnitLaneW:0] len;
    eth_pkg::tx_csum_t csum;
    logic stream;
    logic [2:0] from;
    logic ends;
    logic fail;
    logic cut;
    logic [13:0] mss;
    logic [15:0] total;
  } tx_mark_t;

  localparam int HeaderWords = (UnitBytes - 14) / 4;  // in the first unit of a packet, from byte 14 on

  /// What the segments of a packet have in common. Places are words from byte 14 on.
  typedef struct packed {
    logic [8*UnitBytes-1:0] data;  // as the packet has them
    logic [6:0] bytes;
    logic v4;
    logic [1:0] ip;
    logic [4:0] tcp;
    logic [31:0] seq;  // of the first one,
    logic [15:0] id;  // and its identification
    logic [15:0] ip_sum;  // for the header checksum: of all that stays the same
    logic [15:0] pseudo;  // what the TCP checksum's field holds
    logic [6:0] ip_bytes;  // more than the payload in IP's length field
    logic [5:0] tcp_bytes;
    logic [13:0] mss;
    logic [15:0] payload;  // of the packet
    eth_pkg::tx_csum_t csum;
  } tx_headers_t;

  /// What has become of a packet to be cut.
  typedef struct packed {
    logic                    bad;     // it could not be
    logic [15:0]             frames;
    queue_pkg::queue_bytes_t bytes;   // of the frames together
  } tx_segments_t;

  /// What has become of a piece: frames that left until then, modulo 256, and their bytes but for those of frames that ended with `err`,
  /// modulo 2^14; the turn cannot be used further.
  typedef struct packed {
    logic [7:0]  frames;
    logic [13:0] bytes;
    logic        aborted;  // the newest of them ended with `err`
    logic        broken;
  } tx_token_t;

  /// Packets that tx_engine finished: each bit high for one clock for each packet of its kind.
  typedef struct packed {
    logic sent;
    logic error;  // bad descriptor or failed DMA read
  } tx_engine_count_t;

  /// Units that `len` bytes take.
  function automatic logic [9:0] units_of(logic [15:0] len);
    return 10'((17'(len) + 17'(UnitBytes - 1)) / 17'(UnitBytes));
  endfunction

  /// Bytes that a frame and its record take, one behind the other.
  function automatic logic [14:0] recorded_len(logic [13:0] len);
    return ((15'(len) + 15'd3) & ~15'd3) + 15'd16;
  endfunction

  /// What a packet's first descriptor asks for.
  function automatic eth_pkg::tx_csum_t command_of(queue_pkg::desc_t desc, bit vlan);
    logic unused;
    unused = &{1'b0, desc};
    return
    '{
        owner: '0,
        vlan: vlan ? '{valid: desc.vlan, service: desc.service, tci: desc.slot} : '0,
        enable: desc.csum_enable,
        start: desc.csum_start,
        offset: desc.csum_offset
    }
    ;
  endfunction

  function automatic tx_mss_t mss_of(queue_pkg::desc_t desc);
    logic unused;
    unused = &{1'b0, desc};
    return '{cut: desc.cut, bytes: {desc.mss_high, desc.csum_offset}};
  endfunction

  /// What the host is told of a received frame of `len` bytes.
  function automatic queue_pkg::cpl_t record_of(eth_pkg::rx_info_t info, logic [1:0] port,
                                                logic [13:0] len);
    logic unused;
    unused = &{1'b0, info.steered, info.owner, info.header, info.follow};
    return
    '{
        timestamp: info.stamp[39:0],
        flags:
        queue_pkg::rx_flags_t
'{stripped: info.stripped, port: port, hash_type: info.hash_type},
        csum: info.csum,
        hash: info.hash,
        phase: 1'b0,
        error: 1'b0,
        len: len,
        queue: '0
    }
    ;
  endfunction

  /// The error to report for a failed DMA.
  function automatic queue_pkg::error_e error_of(dma_pkg::dma_result_e result);
    unique case (result)
      dma_pkg::DmaOk:          return queue_pkg::ErrNone;
      dma_pkg::DmaUnsupported: return queue_pkg::ErrUnsupported;
      dma_pkg::DmaPoisoned:    return queue_pkg::ErrPoisoned;
      dma_pkg::DmaTimeout:     return queue_pkg::ErrTimeout;
      default:                 return queue_pkg::ErrAborted;
    endcase
  endfunction
endpackage

// SPDX-License-Identifier: Apache-2.0
/// What cards say to each other, and how frames lie in their FIFOs (direct-router paper, section III).
///
/// Everything is 64-bit words. A frame of L bytes (no FCS) is stored, and sent, as a packet header and ceil(L/8) words;
/// byte counts in messages count stored bytes, so they are multiples of 8. A message or header may be padded to
/// `MessageWords` words on the bus (a parameter; the paper gives no sizes); only the first word says anything, and only the
/// unpadded form is stored and counted.
package direct_pkg;
  /// On PCI Express, of a card with a way through the host: BAR 0 has so many address bits, and its upper half is the NIC's (host_nic.rdl, without
  /// `push`).
  localparam int HostBarW = 25, HostBase = 'h100_0000;
  localparam int WindowBytes = 8192;  // of a peer's window, of which it begins at a multiple: bursts, then messages

  localparam int UnitsW = 12;  // counts in words: up to 4095 words, 32 kB

  typedef logic [UnitsW-1:0] words_t;

  typedef enum logic [3:0] {
    Nothing = 4'd0,
    Request = 4'd1,
    Respond = 4'd2,
    Burst   = 4'd3,
    Packet  = 4'd4
  } message_kind_e;

  /// REQ: words waiting by class. RES: words that may come by class. Burst header: packets that follow by class.
  /// `tag` numbers a REQ; the RES and the burst that answer it repeat it.
  typedef struct packed {
    message_kind_e                                kind;
    logic [3:0]                                   tag;
    logic [7:0]                                   unused;
    logic [route_pkg::MaxClasses-1:0][UnitsW-1:0] count;
  } message_t;

  /// Before each packet, in FIFOs and on the bus.
  typedef struct packed {
    message_kind_e kind;  // Packet
    logic [41:0] unused;
    route_pkg::class_t cls;
    logic [15:0] bytes;  // of the frame
  } packet_header_t;

  /// A frame in stored form: packet header first, then data words.
  typedef struct packed {
    logic [63:0] data;
    logic        last;
  } stored_word_t;

  /// A descriptor ring in host memory as the driver sets it: 2^log_size descriptors of 16 bytes.
  typedef struct packed {
    logic        enable;
    logic [63:0] base;
    logic [3:0]  log_size;
    logic [15:0] producer;  // descriptors given to the card, modulo 2^16
  } ring_t;

  /// What a descriptor says of its buffer. The driver writes `bytes` alone. When a receive buffer is full the card writes all of
  /// it, after the frame on the same channel, so that memory has them in that order.
  typedef struct packed {
    logic [31:0] unused2;
    logic done;  // a frame is in the buffer
    logic [12:0] unused1;
    route_pkg::class_t cls;  // of the frame
    // Receive: that the buffer has, a multiple of 8; then of the frame. Transmit: of the frame, 1 ... 9216. Without FCS.
    logic [15:0] bytes;
  } slow_info_t;

  /// A descriptor.
  typedef struct packed {
    slow_info_t  info;
    logic [63:0] addr;  // of the buffer, a multiple of 8
  } slow_desc_t;

  /// What the card writes to the status address of the transmit ring.
  typedef struct packed {
    logic [47:0] unused;
    logic [15:0] consumer;  // descriptors done, modulo 2^16
  } slow_status_t;

  /// A frame on its way into a FIFO: data words one by one, `bytes` with the last. `abort` takes back the words of a frame
  /// that is not complete (and goes before a word of the same clock).
  typedef struct packed {
    logic        valid;
    logic [63:0] data;
    logic        last;
    logic [15:0] bytes;
    logic        abort;
  } frame_write_t;

  /// What the schedulers did, one bit high for a clock each time.
  typedef struct packed {
    logic req_sent;          // standalone
    logic res_sent;
    logic burst_sent;
    logic empty_burst;       // of these: without a packet
    logic null_req;          // of these: nothing was left, the exchange ended
    logic packet_sent;       // put into a burst (again after a burst that was aborted)
    logic burst_received;    // granted, complete with its trailing REQ
    logic packet_received;   // stored in the output FIFO
    logic packet_discarded;  // of a burst that was not granted, or no longer
    logic request_timeout;   // no RES came
    logic burst_timeout;     // no burst came
    logic aborted;           // a message or burst that ended in an abort
    logic stale_res;
    logic stale_burst;
    logic malformed;         // a word that cannot stand where it came
  } scheduler_events_t;

  // Register words of a peer, of a class mask (word address bits 2:0) and of an input FIFO (bits 1:0).
  localparam logic [2:0] PeerRegValue = 3'd0, PeerRegMask = 3'd1, PeerRegHopLo = 3'd2, PeerRegHopHi = 3'd3,
  PeerRegWindowLo = 3'd4, PeerRegWindowHi = 3'd5;
  localparam logic [2:0] ClassRegSrc = 3'd0, ClassRegSrcMask = 3'd1, ClassRegDst = 3'd2, ClassRegDstMask = 3'd3,
  ClassRegOther = 3'd4, ClassRegControl = 3'd5;
  localparam logic [1:0] QueueRegAccepted = 2'd0, QueueRegDropped = 2'd1, QueueRegWords = 2'd2, QueueRegMax = 2'd3;
endpackage

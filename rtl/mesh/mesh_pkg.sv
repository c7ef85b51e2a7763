// SPDX-License-Identifier: Apache-2.0
/// Types of the on-chip networks: links, dynamic messages, switch instructions, edge slots.
package mesh_pkg;
  typedef logic [31:0] word_t;

  /// Sides of a tile. The order of the ports of routers and switches, the codes of `header_t.exit`, and the operands of a
  /// switch instruction (`Other`: the other static network, `NoPort`: nothing).
  typedef enum logic [2:0] {
    Core   = 3'd0,
    North  = 3'd1,
    East   = 3'd2,
    South  = 3'd3,
    West   = 3'd4,
    Other  = 3'd5,
    NoPort = 3'd7
  } port_e;
  localparam int RouterPorts = 5;  // Core .. West
  localparam int SwitchPorts = 6;  // Core .. Other

  // Dynamic messages: a header and `len` words.

  /// A place a message can go to: the core of a tile, or the edge slot beside a tile.
  typedef struct packed {
    logic [2:0] exit;  // port_e: Core, or the side on which the message leaves the grid
    logic [3:0] y;     // grows to the south
    logic [3:0] x;     // grows to the east
  } place_t;

  /// The port by which a message leaves the router at (x, y): along x first, then along y, then by its exit.
  function automatic logic [2:0] way_along_y(logic [3:0] to, logic [3:0] y, logic [2:0] exit);
    if (to > y) return South;
    if (to < y) return North;
    return exit < 3'(RouterPorts) ? exit : Core;
  endfunction
  function automatic logic [2:0] way_at(place_t dest, logic [3:0] x, logic [3:0] y);
    if (dest.x > x) return East;
    if (dest.x < x) return West;
    return way_along_y(dest.y, y, dest.exit);
  endfunction

  typedef struct packed {
    logic [4:0] user;  // message_e
    place_t     src;   // where a reply goes; bits 26:16
    logic [4:0] len;   // payload words; bits 15:11
    place_t     dest;  // bits 10:0
  } header_t;

  typedef enum logic [4:0] {
    // To a memory. Addresses are in bytes. A read has a tag that comes back in the answer's `user`.
    ReadLine = 5'd0,  // address | tag in bits 2:0: the 8 words of a line
    WriteLine = 5'd1,  // address, 8 words
    WriteMasked = 5'd2,  // address, mask (bit n: byte n of the line), 8 words
    ReadDma = 5'd3,  // address, dma_length_t; also to a linecard that holds frames
    StreamWrite = 5'd4,  // address, words: that many words come over static network 1
    StreamRead = 5'd5,  // address, words: that many words leave over static network 1
    FreeBuffer = 5'd6,  // address: a frame in a linecard's buffer is dropped
    WriteLast = 5'd7,  // as WriteLine; afterwards an Interrupt goes back, by the GDN
    // Answers. The lower three bits are the tag.
    ReadData = 5'd8,  // 8 .. 15: the words
    ReadError = 5'd16,  // 16 .. 23: no payload
    // Frames.
    FrameHead = 5'd24,  // linecard to tile: frame_length_t, payload address, first 16 words
    FrameOut = 5'd25,  // tile to linecard: frame_out_t, payload address, first 16 words
    // To a tile or a linecard: an interrupt, no payload.
    Interrupt = 5'd31
  } message_e;
  localparam int LineWords = 8;
  localparam int LineBytes = 32;

  // Frames. Byte 0 of a word is in bits 31:24. A frame has no FCS and two bytes in front (not part of `bytes`), so that the
  // IP header begins at word 4.
  localparam int EarlyWords = 8;  // of it before the payload, with `early`
  localparam int HeadWords = 16;

  /// First word of a frame from a linecard.
  typedef struct packed {
    logic [15:0] bytes;  // of the frame
    logic [15:0] words;  // that follow the head on the static network, for the switches to count
  } frame_length_t;

  /// First word of a `FrameOut` message.
  typedef struct packed {
    logic         held;      // the payload is in a linecard's buffer (else in a memory)
    logic [3:0]   reserved;
    place_t from;            // the memory or linecard that holds the payload
    logic [15:0]  bytes;     // of the frame
  } frame_out_t;

  /// Second word of a `ReadDma` message.
  typedef struct packed {
    logic        free;      // the last of this frame: a linecard's buffer is free after it
    logic [22:0] reserved;
    logic [2:0]  tag;
    logic [4:0]  words;     // 1 .. 31
  } dma_length_t;

  /// Wire side of a linecard.
  typedef struct packed {
    word_t      data;
    logic       sop;
    logic       eop;
    logic [2:0] bytes;  // in this word: 4, in the last 1 .. 4
  } wire_beat_t;

  // Switch instructions.

  typedef enum logic [3:0] {
    OpNop   = 4'd0,
    OpJump  = 4'd1,  // to imm
    OpBnez  = 4'd2,  // to imm if the counter is not 0
    OpBeqz  = 4'd3,  // to imm if the counter is 0
    OpBnezd = 4'd4,  // as OpBnez; a counter that is not 0 goes down by one
    OpBeqzd = 4'd5,  // as OpBeqz; a counter that is not 0 goes down by one
    OpMovei = 4'd6,  // counter = imm
    OpMovew = 4'd7,  // counter = low half of the word from `source`, which is an operand
    OpAddi  = 4'd8,  // counter += imm
    OpJr    = 4'd9,  // to the counter
    OpHalt  = 4'd15  // fires its routes, then stops
  } switch_op_e;

  typedef struct packed {
    switch_op_e                  op;
    logic [1:0]                  counter;
    logic                        source_net;  // 0: network 1
    logic [2:0]                  source;      // port_e; OpMovew
    logic [1:0]                  reserved;
    logic [15:0]                 imm;
    logic [SwitchPorts-1:0][2:0] route2;      // by output: its input or NoPort
    logic [SwitchPorts-1:0][2:0] route1;
  } switch_instr_t;

  typedef struct packed {
    logic                   halted;
    logic                   waiting;   // an instruction is there and does not fire
    logic [SwitchPorts-1:0] no_word2;  // operands it waits for, by port
    logic [SwitchPorts-1:0] no_word1;
    logic [SwitchPorts-1:0] no_room2;  // destinations it waits for
    logic [SwitchPorts-1:0] no_room1;
    logic [15:0]            pc;
  } switch_status_t;

  // Memory ports.

  /// One word to the DRAM. Enable 3 is for bits 31:24.
  typedef struct packed {
    word_t      address;
    word_t      data;
    logic [3:0] enable;
  } dram_write_t;

  typedef struct packed {
    logic    free;     // of a linecard's buffer: afterwards
    logic    silent;   // no answer
    header_t header;   // of the answer; with `len` 0 an error
    word_t   address;
  } mem_read_t;

  /// Which messages a `mem_messages` understands.
  typedef enum logic [1:0] {
    ForMemory,   // all but FreeBuffer
    ForStreams,  // set-ups
    ForBuffer    // ReadDma, FreeBuffer
  } mem_understands_e;

  typedef struct packed {
    logic         write;
    place_t from;
    word_t        address;
    logic [15:0]  words;
  } stream_set_up_t;

  // Edge slots.

  typedef enum logic [1:0] {
    SlotNone = 2'd0,
    SlotMemory = 2'd1,
    SlotLinecard = 2'd2
  } slot_e;

  typedef enum logic [1:0] {
    StaticStream = 2'd0,  // words that StreamWrite has announced
    StaticLines  = 2'd1,  // address, 8 words
    StaticMasked = 2'd2   // address, mask, 8 words
  } static_mode_e;

  typedef enum logic [2:0] {
    PayloadStatic = 3'd0,  // after the head on static network 1
    PayloadLines = 3'd1,  // so, in lines: address, 8 words
    PayloadMasked = 3'd2,  // so, in lines: address, mask, 8 words
    PayloadMdn = 3'd3,  // WriteLine messages over the MDN
    PayloadHeld = 3'd4  // stays in the linecard until it is read
  } payload_mode_e;

  /// How a payload leaves an input linecard, by `payload_mode_e`.
  typedef struct packed {
    logic leaves;  // else it stays in the linecard
    logic by_mdn;   // before the head, each line in a message; else on static network 1 after the head
    logic lines;  // in lines of 8 words, with zeros behind its end
    logic address;  // in front of each line
    logic mask;  // and then: which bytes of the line are the frame's
  } payload_form_t;

  function automatic payload_form_t payload_form(payload_mode_e mode);
    case (mode)  //          leaves by_mdn lines address mask
      PayloadStatic: return 'b1____0______0_____0_______0;
      PayloadLines: return 'b1_____0______1_____1_______0;
      PayloadMasked: return 'b1____0______1_____1_______1;
      PayloadMdn: return 'b1_______1______1_____1_______0;
      default: return 'b0__________0______0_____0_______0;  // PayloadHeld
    endcase
  endfunction

  /// Networks on which an input linecard sends.
  typedef enum logic [1:0] {
    ToStatic,
    ToHeads,   // GDN
    ToMdn
  } line_to_e;

  /// A word on its way out of an input linecard.
  typedef struct packed {
    line_to_e to;
    logic     stored;  // it is the frame's word of this number, in the buffer
    word_t    word;
  } line_word_t;

  typedef struct packed {
    logic [23:0] reserved;
    logic confirm;  // a StreamWrite by an Interrupt (over the GDN) when it is in the queue
    static_mode_e static_in;
    logic [3:0] max_reads;  // messages whose data is on its way from the DRAM at a time, 1 .. 8
    logic half_duplex;  // reads and writes take turns
  } mem_settings_t;

  typedef struct packed {
    logic [8:0] reserved;
    place_t memory;  // of its payloads
    logic [2:0] reserved2;
    logic answer_gdn;  // reads of the buffer are answered over the GDN (else MDN)
    logic early;  // the payload begins with word 8, in the head: each frame has one (not PayloadHeld)
    logic announce;  // an Interrupt to the first of head_places_t before each frame with a payload
    logic heads;  // heads go by FrameHead to head_places_t, not by static network 1
    logic set_up;  // the linecard itself announces streams to the memory (by the MDN)
    logic address;  // payload addresses are the linecard's: the word after the length is one
    payload_mode_e payload;
  } in_settings_t;

  /// Tiles that get the heads, with `in_settings_t.heads`.
  typedef struct packed {
    logic valid;
    logic [3:0] y;
    logic [3:0] x;
  } head_place_t;
  typedef struct packed {
    logic [4:0]        reserved;
    head_place_t [2:0] place;
  } head_places_t;

  typedef struct packed {
    logic [6:0] reserved;
    logic       held_gdn;   // linecards' buffers are read over the GDN (else MDN)
    logic       early;      // payloads begin with word 8 (in_settings_t)
    logic       tell_mdn;   // interrupts go over the MDN: no head of a frame can stand in their way
    logic       enable;     // Interrupt to the tile when there is room for a frame
    place_t     tile;       // that gets it
    logic       dma;        // memory is read by ReadDma, not ReadLine
    logic [4:0] words;      // of a ReadDma, to a linecard or with `dma`
    logic [3:0] max_reads;  // at a time, 1 .. 8
  } out_settings_t;

  /// A payload that an output linecard has to read.
  typedef struct packed {
    logic         held;     // in a linecard's buffer
    place_t from;           // the linecard or memory
    logic [15:0]  words;
    word_t        address;
  } payload_fetch_t;

  /// Words of a slot's settings.
  localparam logic [4:0] SlotKind = 5'd0;  // slot_e
  localparam logic [4:0] SlotMem = 5'd1;  // mem_settings_t
  localparam logic [4:0] SlotIn = 5'd2;  // in_settings_t
  localparam logic [4:0] SlotRingBase = 5'd3;  // address of the ring in memory that the linecard fills
  localparam logic [4:0] SlotRingBytes = 5'd4;  // its size, a multiple of a line
  localparam logic [4:0] SlotHeads = 5'd5;  // head_places_t
  localparam logic [4:0] SlotOut = 5'd6;  // out_settings_t
  // Counters, read only.
  localparam logic [4:0] SlotMemReads = 5'd16;  // words read from the DRAM
  localparam logic [4:0] SlotMemWrites = 5'd17;  // words written
  localparam logic [4:0] SlotMemBad = 5'd18;  // malformed messages
  localparam logic [4:0] SlotInFrames = 5'd19;  // frames that went in
  localparam logic [4:0] SlotInBad = 5'd20;  // frames too long, dropped; malformed messages
  localparam logic [4:0] SlotOutFrames = 5'd21;  // frames sent to the wire
  localparam logic [4:0] SlotOutBad = 5'd22;  // malformed messages, failed reads
  localparam logic [4:0] SlotDropped = 5'd23;  // words for another place or kind of slot, dropped
endpackage

// SPDX-License-Identifier: Apache-2.0
/// PCI-X 1.0 at the pins and at the user side of `pcix_core`: 64 bits, one address phase.
///
/// A burst of N words takes N + 4 clocks: address, attribute, response (first word driven), N data phases, turnaround. The
/// target answers at decode speed A: DEVSEL# in the response phase, TRDY#/STOP# from the clock after it. A split read takes
/// 5 clocks and is completed later by a Split Completion (N + 4). Words are little endian: byte 0 in bits 7:0.
package pcix_pkg;
  localparam int BurstBytes = 4096;  // longest transaction
  localparam int DisconnectBytes = 128;  // a transaction is only ever cut at such a boundary (ADB)

  /// C/BE#[3:0] in the address phase.
  typedef enum logic [3:0] {
    MemReadDword    = 4'h6,
    MemWrite        = 4'h7,
    ConfigRead      = 4'hA,
    ConfigWrite     = 4'hB,
    SplitCompletion = 4'hC,
    MemReadBlock    = 4'hE,
    MemWriteBlock   = 4'hF
  } command_e;

  /// AD[31:0] in the attribute phase; AD[35:32] (C/BE#[3:0] of the standard's 32-bit half) hold the high byte count. Split
  /// Completions carry the completer's numbers here and the requester's in their address, see split_address_t.
  typedef struct packed {
    logic [11:0] byte_count;  // 0 means 4096; for MemReadDword and configuration always 4
    logic        message;     // Split Completion: a message (error), not data
    logic        unused;
    logic [4:0]  tag;
    logic [7:0]  bus;
    logic [4:0]  device;
    logic [2:0]  func;
  } attribute_t;  // AD[34:0]

  /// AD[31:0] in the address phase of a Split Completion.
  typedef struct packed {
    logic       unused_high;
    logic [5:0] unused;
    logic [4:0] tag;
    logic [7:0] bus;
    logic [4:0] device;
    logic [2:0] func;
    logic [3:0] lower_addr;   // of the first byte, bits 6:3
  } split_address_t;

  /// What the card drives; a signal counts only while its enable is high.
  typedef struct packed {
    logic req_n;
    logic frame_n;
    logic irdy_n;
    logic master_oe;  // frame_n, irdy_n
    logic devsel_n;
    logic trdy_n;
    logic stop_n;
    logic target_oe;  // devsel_n, trdy_n, stop_n
    logic [63:0] ad;
    logic [7:0] cbe_n;  // command in [3:0] during the address phase; else byte enables, active low
    logic ad_oe;  // ad, cbe_n
  } pins_out_t;

  /// What the bus shows the card; undriven control signals are high.
  typedef struct packed {
    logic        gnt_n;
    logic        idsel;
    logic        frame_n;
    logic        irdy_n;
    logic        devsel_n;
    logic        trdy_n;
    logic        stop_n;
    logic [63:0] ad;
    logic [7:0]  cbe_n;
  } pins_in_t;

  /// {DEVSEL#, STOP#, TRDY#} when the target answers, active low as on the pins.
  typedef enum logic [2:0] {
    DisconnectNextAdb = 3'b000,
    Retry             = 3'b001,
    Transfer          = 3'b010,
    Wait              = 3'b011,
    SingleDisconnect  = 3'b100,
    TargetAbort       = 3'b101,
    SplitResponse     = 3'b110,
    Silent            = 3'b111
  } response_e;

  /// A transaction that a source inside the card requests: see pcix_master.
  typedef struct packed {
    command_e    command;
    logic        read;     // data comes later, by Split Completion
    logic [63:0] addr;
    attribute_t  attr;
    logic [9:0]  words;    // data phases, 1 ... 512
  } offer_t;

  /// How a transaction ended for its source. Words taken before the end are reported one by one.
  typedef enum logic [1:0] {
    EndDone  = 2'd0,  // all words, or as many as the target wanted
    EndRetry = 2'd1,  // the target ended it with Retry
    EndSplit = 2'd2,  // a read: the data comes later
    EndAbort = 2'd3   // no target answered, or the target gave up
  } end_e;

  /// A Split Completion for this card begins: the tag and the bytes it still owes.
  typedef struct packed {
    logic [4:0]  tag;
    logic [3:0]  lower_addr;
    logic [11:0] byte_count;
    logic        message;
  } split_start_t;

  /// A register or configuration access of the host, in the order of the bus.
  typedef struct packed {
    logic        read;
    logic        config_space;
    logic        bad;           // a read that cannot be done: answered by an error message
    logic [16:0] addr;          // of the 64-bit word; of the 32-bit word in configuration space
    logic [63:0] data;
    logic [7:0]  strobe;        // of a read: 8'h0f, 8'hf0, 8'hff
    logic [11:0] byte_count;    // of a read, as requested
    logic [3:0]  lower_addr;
    logic [4:0]  tag;           // tag to function: the requester
    logic [7:0]  bus;
    logic [4:0]  device;
    logic [2:0]  func;
  } access_t;

  /// What happened at the bus, each bit high for one clock each time.
  typedef struct packed {
    logic transaction;       // begun by this card
    logic word_out;          // word taken from this card as master
    logic word_in;           // word taken by this card as target
    logic master_abort;      // no target answered this card
    logic target_abort;      // the target gave up
    logic retry;             // this card got Retry
    logic disconnect;        // this card got Disconnect
    logic split_timeout;     // a read was given up
    logic split_error;       // a read was answered by an error message
    logic unexpected_split;  // a Split Completion without a request
    logic retry_given;       // this card ended another's transaction with Retry
    logic bad_read;          // a read of this card that was answered by an error message
    logic bad_write;         // a write to this card that was dropped (other buses)
  } bus_event_t;
endpackage

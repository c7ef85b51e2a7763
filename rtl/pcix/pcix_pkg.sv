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

  typedef enum logic [1:0] {
    DmaOk         = 2'd0,
    DmaAbort      = 2'd1,  // nobody answered (master abort), or target abort
    DmaTimeout    = 2'd2,  // a split read was never completed
    DmaSplitError = 2'd3   // the completer sent a Split Completion Message
  } dma_result_e;

  /// A transfer of one channel. `fixed`: pieces after the first start at `addr` again (a window, not memory).
  typedef struct packed {
    logic        read;
    logic        fixed;
    logic [63:0] addr;   // a multiple of 8
    logic [15:0] bytes;  // a multiple of 8, not 0
  } dma_cmd_t;

  /// Word of a read; `last` with the last word of the command. A failed read gives its missing words as zeros.
  typedef struct packed {
    logic [63:0] data;
    logic        last;
  } dma_word_t;

  /// A word that somebody wrote into the card's windows.
  typedef struct packed {
    logic [3:0]  window;
    logic        message;  // in the mailbox half (a message); else in the burst half
    logic        first;    // first data phase of a bus transaction
    logic [63:0] data;
  } window_word_t;
endpackage

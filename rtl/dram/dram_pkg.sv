// SPDX-License-Identifier: Apache-2.0
/// Pins of the frame memory: two 32-bit graphics DDR devices side by side, seen as 128 bits a memory clock (both edges).
///
/// A memory clock has one command. A Read or Write moves one 16-byte word (burst of two edges): read data comes CasLatency
/// memory clocks after the command, write data and its mask go WriteLatency memory clocks after it. Mask bits: 1 leaves the
/// byte alone. The controller runs at a quarter of the memory clock: each of its clocks has DramSlots of everything, slot 0
/// first. The serializers of the pins (a chip's hard cells) put them one after another.
package dram_pkg;
  typedef enum logic [2:0] {
    Nop          = 3'd0,
    Activate     = 3'd1,  // opens row `addr` of `bank`
    Read         = 3'd2,  // column `addr` of the open row of `bank`
    Write        = 3'd3,
    Precharge    = 3'd4,  // closes the row of `bank`
    PrechargeAll = 3'd5,
    Refresh      = 3'd6   // all banks closed
  } dram_cmd_e;

  typedef struct packed {
    dram_cmd_e   cmd;
    logic [2:0]  bank;
    logic [13:0] addr;
  } dram_ca_t;

  typedef struct packed {
    logic [127:0] data;
    logic [15:0]  mask;
  } dram_dq_t;

  localparam int DramSlots = 4;
  localparam int BusBytes = 16;
  localparam int FrameAddrW = 25;  // 32 MB of frame memory

  /// A burst of an assist (or a core): `beats` words of 16 bytes from a 16-byte-aligned address.
  typedef struct packed {
    logic write;
    logic [FrameAddrW-5:0] addr;  // in 16-byte units
    logic [7:0] beats;  // 1 ... 128
  } bus_req_t;

  typedef struct packed {
    logic [127:0] data;
    logic [15:0]  strb;  // bytes that are written
  } bus_wdata_t;

  /// Bytes in the frame memory, or in the scratchpad, that a command is about.
  localparam int MaxPart = 2048;
  typedef struct packed {
    logic [31:0] addr;  // as a core sees it; the frame memory takes its low FrameAddrW bits
    logic [11:0] len;   // 1 ... MaxPart
  } local_part_t;

  /// 64 bytes of a part between clocks: byte i of a part lies in byte (address mod 16) + i of its rows.
  typedef logic [511:0] row_t;

  /// Four words of a burst, from its first one on: word i of a burst in lane i mod 4. What is behind its last one is not used.
  typedef struct packed {
    row_t        data;
    logic [63:0] strb;  // bytes that are written
  } bus_row_t;
endpackage

// SPDX-License-Identifier: Apache-2.0
/// Commands of the four assists and the bus to the frame memory (core-nic paper, section 4).
///
/// Firmware writes commands into rings in the scratchpad and moves a producer count; an assist takes them in order and moves
/// its progress count, in order too. Counts run freely modulo 2^32; a ring has 2^log2 commands.
package assist_pkg;
  /// DMA read and write: four words. Word 0, 1: host address low, high. Word 2: local address (scratchpad or frame memory,
  /// as a core sees it). Word 3: [15:0] length in bytes (1 ... 2048), [16] raise an interrupt when done (DMA write).
  localparam int DmaCommandWords = 4;
  /// MAC transmit: two words. Word 0: frame memory address. Word 1: [15:0] length without FCS.
  /// MAC receive writes two words: address; [15:0] length, [16] good.
  localparam int MacCommandWords = 2;

  localparam int BusBytes = 16;
  localparam int FrameAddrW = 25;  // 32 MB of frame memory

  /// A burst of an assist (or a core) on the 128-bit bus: `beats` words of 16 bytes from a 16-byte-aligned address.
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

  /// A DMA command on its way to the host's clock.
  typedef struct packed {
    logic [63:0] host_addr;
    local_part_t part;
    logic        scratch;    // else frame memory
    logic        irq;
  } dma_command_t;

  /// 64 bytes of a part between clocks: byte i of a part lies in byte (address mod 16) + i of its rows.
  typedef logic [511:0] row_t;
endpackage

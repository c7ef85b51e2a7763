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

  /// A DMA command on its way to the host's clock.
  typedef struct packed {
    logic [63:0]           host_addr;
    dram_pkg::local_part_t part;
    logic                  scratch;    // else frame memory
    logic                  irq;
  } dma_command_t;
endpackage

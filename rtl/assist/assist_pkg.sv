// SPDX-License-Identifier: Apache-2.0
/// Commands of the four assists and the bus to the frame memory (core-nic paper, section 4).
///
/// Firmware writes commands into rings in the scratchpad and moves a producer count; an assist takes them in order and moves
/// its progress count, in order too. Counts run freely modulo 2^32; a ring has 2^log2 commands.
package assist_pkg;
  typedef struct packed {
    logic [14:0] note;  // of the firmware to itself
    logic irq;  // raise an interrupt when done (DMA write)
    logic [15:0] len;  // bytes, 1 ... MaxPart
  } dma_info_t;
  /// DMA read and write.
  typedef struct packed {
    dma_info_t   info;
    logic [31:0] local_addr;  // scratchpad or frame memory, as a core sees it
    logic [31:0] host_high;   // host address
    logic [31:0] host_low;
  } dma_ring_command_t;

  typedef struct packed {
    logic [14:0] note;
    logic good;  // receive
    logic [15:0] len;  // bytes without FCS
  } mac_info_t;
  /// MAC transmit; and what MAC receive writes for a frame.
  typedef struct packed {
    mac_info_t   info;
    logic [31:0] address;  // in the frame memory
  } mac_ring_command_t;

  /// A DMA command on its way to the host's clock.
  typedef struct packed {
    logic [63:0]           host_addr;
    dram_pkg::local_part_t part;
    logic                  scratch;    // else frame memory
    logic                  irq;
  } dma_command_t;

  /// What a read into the scratchpad was about, when it is over.
  typedef struct packed {
    logic failed;  // its bytes have not come
    dram_pkg::local_part_t part;
  } read_part_t;

  /// A piece of the frame memory in which a frame is put together, the whole of it or its begin.
  localparam int SlotBytes = 2048;
  localparam int SlotW = dram_pkg::FrameAddrW - $clog2(SlotBytes);
  typedef logic [SlotW-1:0] slot_t;

  /// Of MAC transmit commands that are skipped, high for a clock each.
  typedef struct packed {
    logic lost;   // a part of the frame could not be read
    logic empty;  // no byte
  } mac_skipped_t;
endpackage

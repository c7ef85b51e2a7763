// SPDX-License-Identifier: Apache-2.0
/// DMA requests and the segmented RAM interface (host-nic paper, section II-F).
///
/// A DMA RAM is `Segs` segments of `SegBytes` side by side: byte address bits 3:0 pick the lane, 6:4 the segment, the rest
/// the row. Each segment has its own row address, so any 64 bytes at any byte address are reached in one clock. A RAM has
/// one writer and one reader, so there is nothing to wait for: accesses are never refused and reads take a fixed
/// `RamReadLatency`. (The paper gives each segment its own handshake; with one user a port it is never used.)
package dma_pkg;
  localparam int Segs = 8;
  localparam int SegBytes = 16;
  localparam int SegW = 8 * SegBytes;
  localparam int RowBytes = Segs * SegBytes;
  localparam int RamReadLatency = 2;

  localparam int SelW = 6;
  localparam int RamAddrW = 20;
  localparam int RowAddrW = RamAddrW - $clog2(RowBytes);

  typedef logic [63:0] host_addr_t;
  typedef logic [SelW-1:0] ram_sel_t;
  typedef logic [RamAddrW-1:0] ram_addr_t;
  typedef logic [RowAddrW-1:0] row_addr_t;

  /// One transfer between host memory and a DMA RAM, 1 ... 65535 bytes. `sel` names both the RAM and the client: the
  /// status comes back to it, in the order of its requests. Either address may have any alignment.
  typedef struct packed {
    host_addr_t host_addr;
    ram_sel_t sel;
    ram_addr_t ram_addr;
    logic [15:0] len;
    logic        relaxed;    // may be reordered by the host (packet data; never descriptors, completions, events)
  } dma_req_t;

  typedef enum logic [2:0] {
    DmaOk          = 3'd0,
    DmaUnsupported = 3'd1,  // completion with UR
    DmaAborted     = 3'd2,  // completion with CA, or malformed
    DmaPoisoned    = 3'd3,  // EP set
    DmaTimeout     = 3'd4   // no completion in time
  } dma_result_e;

  /// A transfer has ended; valid for one clock, never refused.
  typedef struct packed {
    logic        valid;
    ram_sel_t    sel;
    dma_result_e result;
  } dma_status_t;

  /// Write port of the DMA RAMs (driven by the DMA read engine): each segment is a write of its own.
  typedef struct packed {
    ram_sel_t                      sel;
    logic [Segs-1:0]               valid;
    row_addr_t [Segs-1:0]          row;
    logic [Segs-1:0][SegBytes-1:0] strb;
    logic [Segs-1:0][SegW-1:0]     data;
  } ram_write_t;

  /// Read port of the DMA RAMs (driven by the DMA write engine); data comes RamReadLatency clocks later.
  typedef struct packed {
    ram_sel_t             sel;
    logic [Segs-1:0]      valid;
    row_addr_t [Segs-1:0] row;
  } ram_read_t;

  typedef logic [Segs-1:0][SegW-1:0] ram_row_t;

  /// The part of a DMA read that one read request TLP asks for: 1 ... 4096 bytes that cross no 4 kB boundary.
  typedef struct packed {
    host_addr_t  host_addr;
    ram_sel_t    sel;
    ram_addr_t   ram_addr;
    logic [12:0] len;
    logic        last;       // of its DMA request
    logic        relaxed;
  } dma_chunk_t;

  /// What the DMA read engine counts; each bit but those of `in_use` is high for one clock an occurrence.
  typedef struct packed {
    logic       tlp;         // read request sent
    logic       wait_tag;    // a clock in which a read request waited for a tag
    logic       beat;        // completion beat that brought data
    logic       error;       // completion with UR, CA or another error status
    logic       poisoned;    // completion with EP
    logic       malformed;   // completion that does not fit its request: dropped, tag quarantined
    logic       timeout;     // tag given up
    logic       late;        // completion for a quarantined tag: dropped
    logic       unexpected;  // completion of no read that is open: dropped
    logic [9:0] in_use;      // tags given out and not yet back
  } dma_read_count_t;
endpackage

// SPDX-License-Identifier: Apache-2.0
/// What cores, assists, crossbar and memory banks say to each other, and the processor's custom instructions.
///
/// Memory map of a core: instruction memory from 0 (fetch only), scratchpad from 0x1000_0000 (words interleaved over the
/// banks), device registers from 0x2000_0000, frame memory from 0x4000_0000. Anything else is an error (a trap).
package core_pkg;
  localparam logic [31:0] ScratchBase = 32'h1000_0000;
  localparam logic [31:0] DeviceBase = 32'h2000_0000;
  localparam logic [31:0] FrameBase = 32'h4000_0000;

  /// Networks in the register file: static network 1 is x26, static network 2 x27, the general dynamic network x28.
  localparam int NetCount = 3;
  localparam logic [4:0] FirstNet = 5'd26;
  localparam int NetDepth = 4;  // words that wait for a core's read, those of instructions not through MEM included
  localparam int NetCountW = $clog2(NetDepth + 1);
  localparam int IrqCount = 8;  // interrupt flags

  /// Control and status registers of a core with networks (core_csr).
  localparam logic [11:0] CsrMstatus = 12'h300, CsrMie = 12'h304, CsrMtvec = 12'h305, CsrMscratch = 12'h340;
  localparam logic [11:0] CsrMepc = 12'h341, CsrMcause = 12'h342, CsrMip = 12'h344;
  localparam logic [11:0] CsrNetStatus = 12'h7c0, CsrIrqFlags = 12'h7c1;

  /// What is done at the bank, in one go. All but Store answer with the old word.
  typedef enum logic [3:0] {
    Load = 4'd0,
    Store = 4'd1,
    Swap = 4'd2,
    Add = 4'd3,
    And = 4'd4,
    Or = 4'd5,
    Xor = 4'd6,
    Min = 4'd7,
    Max = 4'd8,
    MinU = 4'd9,
    MaxU = 4'd10,
    Update = 4'd11  // wdata[4:0] = first bit; clears the consecutive ones from there to the end of the word; the core counts them
  } mem_op_e;

  /// One access of a word. `addr` is a multiple of 4; `be` says which bytes a Store writes (all for the others).
  typedef struct packed {
    mem_op_e     op;
    logic [31:0] addr;
    logic [31:0] wdata;
    logic [3:0]  be;
  } mem_req_t;

  /// Which region of the memory map an access is to; none: it is an error. Masters that know it early say it to the crossbar.
  typedef struct packed {
    logic scratch;
    logic device;
    logic frame;
  } region_t;

  /// The region of an access; only Load and Store are known outside the scratchpad. Each is a power of two of bytes, at a
  /// multiple of that (xbar).
  function automatic region_t region_of(input mem_op_e op, input logic [31:0] addr,
                                        input int scratch_bytes, input int device_bytes,
                                        input int frame_bytes);
    logic plain;
    plain = op inside {Load, Store};
    region_of.scratch = (addr & ~32'(scratch_bytes - 1)) == ScratchBase;
    region_of.device = plain && (addr & ~32'(device_bytes - 1)) == DeviceBase;
    region_of.frame = plain && (addr & ~32'(frame_bytes - 1)) == FrameBase;
  endfunction

  /// `error`: an unmapped address, or an operation that is not supported there.
  typedef struct packed {
    logic [31:0] rdata;
    logic        error;
  } mem_rsp_t;

  /// What a core did in a clock: exactly one of these, so that counts of them sum to the clocks. Up to StallPipe it works.
  typedef enum logic [3:0] {
    Retire = 4'd0,  // an instruction left the pipeline
    StallFetch = 4'd1,  // instruction cache miss
    StallLoad = 4'd2,  // clocks a load takes longer than other instructions: its turn at the port, device and frame memory latency
    StallBank = 4'd3,  // bank conflict: another master was served
    StallStore   = 4'd4,  // an earlier store of this core, from its buffer, was served or waits for its answer
    StallPipe = 4'd5,  // load-use, branch, multiply/divide, bubbles after them
    Halted = 4'd6,  // in reset, trapped or stopped
    Sleep = 4'd7,  // waits for work (wfi)
    StallReceive = 4'd8,  // no word from a network yet
    StallSend = 4'd9  // a network has no room
  } clock_use_e;
  localparam int ClockUses = 10;

  typedef enum logic [3:0] {
    NoTrap          = 4'd0,
    TrapIllegal     = 4'd1,
    TrapFetch       = 4'd2,  // misaligned or outside the instruction memory
    TrapLoadAlign   = 4'd3,
    TrapStoreAlign  = 4'd4,
    TrapLoadAccess  = 4'd5,  // unmapped address
    TrapStoreAccess = 4'd6,
    TrapBreak       = 4'd7,  // ebreak
    TrapCall        = 4'd8,  // ecall
    TrapWatchdog    = 4'd9
  } trap_e;

  /// A retired instruction, as RVFI has it (one channel; the core's number beside it).
  typedef struct {
    logic        valid;
    logic        trap;
    logic [31:0] insn;
    logic [4:0]  rs1_addr;
    logic [4:0]  rs2_addr;
    logic [31:0] rs1_rdata;
    logic [31:0] rs2_rdata;
    logic [4:0]  rd_addr;
    logic [31:0] rd_wdata;
    logic [31:0] pc_rdata;
    logic [31:0] pc_wdata;
    logic [31:0] mem_addr;   // word address of the access
    logic [3:0]  mem_rmask;
    logic [3:0]  mem_wmask;
    logic [31:0] mem_rdata;  // of an Update what was counted in it
    logic [31:0] mem_wdata;
  } rvfi_t;

  /// What a core shows to observers; not packed, so that a bench has each by its name.
  typedef struct {
    clock_use_e  use_;
    logic [31:0] pc;       // of the instruction that retired last
    trap_e       trap;
    logic [31:0] trap_pc;
    rvfi_t       rvfi;     // 0 unless the core's Rvfi is set
  } core_seen_t;

  /// A scratchpad access, as observers see it.
  typedef struct {
    logic        taken;
    mem_op_e     op;
    logic [31:0] addr;
  } access_seen_t;
endpackage

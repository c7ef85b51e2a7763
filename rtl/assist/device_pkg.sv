// SPDX-License-Identifier: Apache-2.0
/// Device registers as a core sees them: 32-bit words from core_pkg::DeviceBase on (core-nic paper, sections 3.2 and 4).
///
/// Load and Store of whole words only; a load takes the two clocks of a scratchpad bank. Unknown offsets read 0.
/// Counts run freely modulo 2^32. RW: reads give what was written last.
package device_pkg;
  localparam int AddrW = 12;

  // The machine.
  localparam logic [AddrW-1:0] Cores = 12'h000;  // R: cores there are
  localparam logic [AddrW-1:0] Clock = 12'h004;  // R: core clocks since reset
  localparam logic [AddrW-1:0] WatchdogLimit = 12'h008;  // RW: longest time between kicks of a core in clocks; 0: off
  localparam logic [AddrW-1:0] WatchdogKick = 12'h00c;  // W: the core that writes is alive
  localparam logic [AddrW-1:0] Print = 12'h010;  // W: [7:0] character for the observer (host, bench)
  localparam logic [AddrW-1:0] Exit = 12'h014;  // W: exit code; seen by the host
  localparam logic [AddrW-1:0] WakeGap = 12'h018;  // RW: [15:0] clocks from one wake-up of a core to the next, at least
  localparam logic [AddrW-1:0] Wake = 12'h01c;  // W: a core is to be woken, to look for work

  // Assists that take commands: ring of 2^log2 commands in the scratchpad.
  localparam logic [AddrW-1:0] DmaRead = 12'h040;
  localparam logic [AddrW-1:0] DmaWrite = 12'h060;
  localparam logic [AddrW-1:0] MacTx = 12'h080;
  localparam logic [AddrW-1:0] RingBase = 12'h000;  // RW: address of the ring
  localparam logic [AddrW-1:0] RingLog = 12'h004;  // RW: log2 of its commands, 0 ... 15
  localparam logic [AddrW-1:0] Producer = 12'h008;  // RW: commands written into the ring since reset
  localparam logic [AddrW-1:0] Progress = 12'h00c;  // R: commands done since reset, in order

  // MAC receive: slots of 2 kB in the frame memory, as many as the ring has descriptors; descriptor i is about slot i.
  localparam logic [AddrW-1:0] MacRx = 12'h0a0;
  localparam logic [AddrW-1:0] Produced = 12'h008;  // R: frames whose descriptor is in the ring
  localparam logic [AddrW-1:0] Freed = 12'h00c;  // RW: slots given back, in order
  localparam logic [AddrW-1:0] SlotBase = 12'h010;  // RW: frame memory address of slot 0, a multiple of 16
  localparam logic [AddrW-1:0] Enable = 12'h014;  // RW: bit 0, take frames from the wire

  // Mailbox: what the driver wrote.
  localparam logic [AddrW-1:0] SendProducer = 12'h0c0;  // R: send buffer descriptors there are
  localparam logic [AddrW-1:0] ReceiveProducer = 12'h0c4;  // R: receive buffer descriptors there are
  localparam logic [AddrW-1:0] Config = 12'h180;  // R: 16 words

  // Event register: bit i is set while hardware's count i differs from the count that firmware has seen.
  localparam int Events = 6;
  typedef enum logic [2:0] {
    KindDmaRead    = 3'd0,  // progress
    KindDmaWrite   = 3'd1,  // progress
    KindMacTx      = 3'd2,  // progress
    KindMacRx      = 3'd3,  // produced
    KindSendBds    = 3'd4,  // send descriptors there are
    KindReceiveBds = 3'd5   // receive descriptors there are
  } event_kind_e;
  localparam logic [AddrW-1:0] Event = 12'h100;  // R
  localparam logic [AddrW-1:0] Seen = 12'h104;  // RW: word i at Seen + 4 i

  // Counters.
  localparam logic [AddrW-1:0] RxBadFcs = 12'h120;  // R: frames dropped: bad FCS or MAC error
  localparam logic [AddrW-1:0] RxOversize = 12'h124;  // R: longer than 1518 bytes with FCS
  localparam logic [AddrW-1:0] RxRunt = 12'h128;  // R: shorter than 64 bytes with FCS
  localparam logic [AddrW-1:0] RxNoBuffer = 12'h12c;  // R: the assist's buffer was full because no slot was free
  localparam logic [AddrW-1:0] RxFifoFull = 12'h130;  // R: the assist's buffer was full for another reason
  localparam logic [AddrW-1:0] RxGood = 12'h134;  // R: frames taken
  localparam logic [AddrW-1:0] DmaErrors = 12'h138;  // R: DMA reads that the host answered with an error
  localparam logic [AddrW-1:0] BadCommands = 12'h13c;  // R: commands with a length or address that cannot be: skipped

  localparam logic [AddrW-1:0] HostInterrupt = 12'h140;  // W: interrupt to the host

  // What firmware drops on purpose it counts here; the host sees it beside the frames that the hardware dropped.
  localparam logic [AddrW-1:0] RxDropped = 12'h144;  // RW: received frames; a write adds to the count
  localparam logic [AddrW-1:0] TxDropped = 12'h148;  // RW: frames to be sent; likewise
endpackage

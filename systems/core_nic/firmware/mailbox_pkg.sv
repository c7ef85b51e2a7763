// SPDX-License-Identifier: Apache-2.0
/// What the firmware and its driver have agreed on: configuration words, rings and the status block in host memory.
///
/// Send, receive and return ring hold descriptors. A return descriptor is that of a receive buffer with a frame in it, or,
/// with a length of 0, with nothing: the frame it was for was dropped, and is in the device's count of such frames.
package mailbox_pkg;
  /// Words of the configuration.
  localparam int ConfigSendRing = 0;  // host address, low and high word, of the send ring
  localparam int ConfigReceiveRing = 2;  // of the receive ring
  localparam int ConfigReturnRing = 4;  // of the return ring
  localparam int ConfigStatus = 6;  // of the status block
  localparam int ConfigLogs = 8;  // config_logs_t
  localparam int ConfigSlotsLog = 9;  // log2 of receive slots in the frame memory: 1 ... 8, else 8
  localparam int ConfigWatchdog = 10;  // clocks; 0: off
  localparam int ConfigFlags = 11;  // bit 0: no interrupts
  localparam int ConfigDropPort = 12;  // filter: UDP port whose datagrams are dropped; 0: none
  localparam int ConfigQueues = 13;  // balance: queues that received frames are dealt to, 1 ... 16

  /// log2 of the descriptors of the rings, 5 or more.
  typedef struct packed {
    logic [7:0] unused;
    logic [7:0] returned;
    logic [7:0] receive;
    logic [7:0] send;
  } config_logs_t;

  typedef struct packed {
    logic [10:0] unused;
    logic [3:0]  queue;   // of a received frame
    logic        last;    // of its frame
    logic [15:0] len;     // bytes
  } bd_info_t;

  /// A buffer descriptor.
  typedef struct packed {
    logic [31:0] cookie;        // the driver's, comes back
    bd_info_t    info;
    logic [31:0] address_high;
    logic [31:0] address_low;
  } bd_t;

  /// The status block: counts, modulo 2^32.
  typedef struct packed {
    logic [31:0] returned;  // descriptors written to the return ring
    logic [31:0] sent;      // send descriptors that are done
  } status_t;
endpackage

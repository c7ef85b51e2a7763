// SPDX-License-Identifier: Apache-2.0
/// Ethernet frames on 512-bit streams, without preamble and FCS.
package eth_pkg;
  localparam int BeatBytes = 64;
  localparam int MinFrame = 60;   // bytes without FCS
  localparam int TimeW = 48;

  /// PTP time in ns since the clock was set, modulo 2^48.
  typedef logic [TimeW-1:0] ptp_time_t;

  /// One beat of a frame. All beats but the last are full; the first byte is in the lowest lane.
  typedef struct packed {
    logic [8*BeatBytes-1:0] data;
    logic [6:0]             len;   // valid bytes, 1 ... 64
    logic                   sop;
    logic                   eop;
    logic                   err;   // with eop: the frame is bad (FCS error on receive, abort on transmit)
  } frame_beat_t;
endpackage

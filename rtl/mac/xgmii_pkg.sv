// SPDX-License-Identifier: Apache-2.0
/// XGMII (IEEE 802.3 clause 46) as 64 bits at one edge of the clock: at 156.25 MHz 10 Gb/s, at 390.625 MHz 25 Gb/s. What its MAC
/// (xgmii_mac) is told, what it says and what it counts.
package xgmii_pkg;
  localparam logic [7:0] Idle = 8'h07, Start = 8'hfb, Terminate = 8'hfd, Error = 8'hfe, Sequence = 8'h9c;
  localparam logic [7:0] Preamble = 8'h55, Sfd = 8'hd5;

  /// A word: eight lanes, the first byte in the lowest; a lane whose bit of `ctl` is set holds a control character.
  typedef struct packed {
    logic [7:0]  ctl;
    logic [63:0] data;
  } xgmii_t;

  localparam xgmii_t IdleWord = '{ctl: '1, data: {8{Idle}}};
  localparam xgmii_t StartWord = '{ctl: 8'h01, data: {Sfd, {6{Preamble}}, Start}};
  /// Two columns of an ordered set: byte 3 says which.
  localparam logic [7:0] LocalFault = 8'h01, RemoteFault = 8'h02;
  localparam xgmii_t RemoteFaultWord = '{ctl: 8'h11, data: {2{RemoteFault, 16'h0, Sequence}}};

  /// Either way, not packed, so that a bench has each by its name.
  typedef struct {
    logic [63:0] data;
    logic [7:0]  ctl;
  } xgmii_pins_t;

  /// Beats between those of the word stream and of the hard block's pins (eth_pkg).
  typedef struct packed {
    logic [127:0] data;
    logic [4:0] len;
    logic sop;
    logic eop;
    logic err;
  } quarter_beat_t;
  typedef struct packed {
    logic [255:0] data;
    logic [5:0] len;
    logic sop;
    logic eop;
    logic err;
  } half_beat_t;

  /// MAC control frames (IEEE 802.3 annex 31): destination and EtherType as the first bytes of a frame lie in its words, opcodes.
  localparam logic [47:0] ControlMac = 48'h01_00_00_c2_80_01;
  localparam logic [15:0] ControlType = 16'h0888, PauseOp = 16'h0100, PfcOp = 16'h0101;  // likewise

  /// Settings of the transmit side. `gap`: bytes from the end of a frame to the next start, in the mean, a multiple of 4 from 12 on.
  typedef struct packed {
    logic        pause;     // obey PAUSE frames: nothing is sent
    logic        pfc;       // obey priority flow control: frames of a class are not sent
    logic [2:0]  untagged;  // class of a frame without VLAN tag
    logic [7:0]  gap;
    logic [15:0] quanta;    // asked for with a PAUSE or PFC frame, of 512 bit times each
    logic [47:0] station;   // source of such frames: its first byte in bits 7:0
  } xgmii_tx_cfg_t;

  /// Settings of the receive side.
  typedef struct packed {
    logic        keep_control;  // MAC control frames go on to the core
    logic [15:0] max_frame;     // with FCS; a longer one is cut there
  } xgmii_rx_cfg_t;

  /// Fault of the line, as ordered sets told it.
  typedef struct packed {
    logic remote;
    logic local_;
  } link_fault_t;

  /// What is counted of frames (RFC 2819, IEEE 802.3 clause 30), by the place in the RAM of `mac_counters`: Octets and GoodOctets count
  /// the bytes of the record, the others records. Octets are with FCS, without preamble; all frames are
  /// those of any size, Undersize and Fragment.
  typedef enum logic [4:0] {
    Octets,
    GoodOctets,
    Good,
    Broadcast,
    Multicast,  // the last two: good ones
    Size64,
    Size65,
    Size128,
    Size256,
    Size512,
    Size1024,
    Size1519,  // all, from so many bytes
    Undersize,
    Fragment,  // below 64 bytes: with a good FCS; with a bad one or spoilt (below 8 its bytes are not in Octets)
    Oversize,  // above max_frame, good or bad
    FcsError,  // of 64 bytes or more
    SymbolError,  // likewise, a control character inside; transmit: sent with Error characters
    BadStart,  // a start without SFD behind it
    Pause,
    Pfc,
    ControlOther,  // MAC control frames
    Underrun,  // transmit: the next word of a frame did not come
    FaultLost,  // transmit: sent while the line was in fault
    LocalFaults,
    RemoteFaults  // times that it began
  } mac_counter_e;
  localparam int MacCounters = 25;

  /// A frame that ended, or something else that is to be counted.
  typedef struct packed {
    logic [15:0] bytes;
    logic [MacCounters-1:0] hit;
  } mac_record_t;

  /// The counter of a frame's size.
  function automatic logic [MacCounters-1:0] size_hit(logic [15:0] bytes);
    size_hit = '0;
    size_hit[Size64] = bytes == 16'd64;
    size_hit[Size65] = bytes > 16'd64 && bytes < 16'd128;
    size_hit[Size128] = bytes[15:7] == 9'd1;
    size_hit[Size256] = bytes[15:8] == 8'd1;
    size_hit[Size512] = bytes[15:9] == 7'd1;
    size_hit[Size1024] = bytes >= 16'd1024 && bytes < 16'd1519;
    size_hit[Size1519] = bytes >= 16'd1519;
  endfunction
endpackage

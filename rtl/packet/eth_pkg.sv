// SPDX-License-Identifier: Apache-2.0
/// Ethernet frames on streams of 512 bits (100G), 1024 bits (100G, in the core), 64 bits and 8 bits (1G), without preamble and
/// FCS.
package eth_pkg;
  localparam int FrameBeatBytes = 64;
  localparam int MinFrame = 60;  // bytes without FCS
  localparam int TimeW = 48;

  /// PTP time in ns since the clock was set, modulo 2^48.
  typedef logic [TimeW-1:0] ptp_time_t;
  localparam logic [15:0] PtpType = 16'h88f7;  // EtherType of IEEE 1588 over Ethernet

  /// One beat of a frame. All beats but the last are full; the first byte is in the lowest lane. Here as in all wide structs data comes
  /// last, from bit 0 on: simulators take a struct as 32-bit words, and would shift data that begins elsewhere at each use.
  typedef struct packed {
    logic [6:0] len;  // valid bytes, 1 ... 64
    logic sop;
    logic eop;
    logic err;  // with eop: the frame is bad (FCS error on receive, abort on transmit)
    logic [8*FrameBeatBytes-1:0] data;
  } frame_beat_t;

  /// A beat's bytes in network order, the first one in the highest lane. By words of 32 bits: Verilator goes through `{<<8{}}` bit by bit.
  function automatic logic [8*FrameBeatBytes-1:0] network_order(logic [8*FrameBeatBytes-1:0] data);
    for (int w = 0; w < FrameBeatBytes / 4; w++) begin
      network_order[8*FrameBeatBytes-1-32*w-:32] = {
        data[32*w+:8], data[32*w+8+:8], data[32*w+16+:8], data[32*w+24+:8]
      };
    end
  endfunction

  localparam int WideBeatBytes = 2 * FrameBeatBytes;

  /// The same in the core clock where every size is to pass at line rate: one frame starts a beat, so at 250 MHz beats of 64 bytes
  /// carry 125 M frames a second of 65 bytes, these 250 M.
  typedef struct packed {
    logic [7:0] len;  // valid bytes, 1 ... 128
    logic sop;
    logic eop;
    logic err;
    logic [8*WideBeatBytes-1:0] data;
  } wide_beat_t;

  /// The same in 64-bit words: of a 1G port after its MAC.
  typedef struct packed {
    logic [3:0] len;  // valid bytes, 1 ... 8
    logic sop;
    logic eop;
    logic err;
    logic [63:0] data;
  } word_beat_t;

  /// The 8-bit MAC stream of a 1G port at 125 MHz.
  typedef struct packed {
    logic [7:0] data;
    logic sop;
    logic eop;
    logic err;
  } byte_beat_t;

  /// Its pins, either way; not packed, so that a bench has each by its name.
  typedef struct {
    logic       valid;
    logic [7:0] data;
    logic       sop;
    logic       eop;
    logic       err;
  } byte_pins_t;

  /// What mac_rx saw: each bit high for one clock for each frame of its kind. A frame is of one kind only. The last two go with the
  /// first four and mean nothing else; mac_rx_take leaves them 0.
  typedef struct packed {
    logic        good;       // handed on
    logic        bad_fcs;    // FCS or other MAC error
    logic        runt;       // shorter than MinFrame
    logic        oversize;   // longer than the maximum
    logic        fifo_full;  // lost in the clock crossing
    logic        err;        // the MAC has found it bad
    logic [15:0] bytes;      // without FCS; oversize: up to the beat that was too much
  } mac_rx_count_t;

  localparam logic [15:0] EtherIpv4 = 16'h0800, EtherIpv6 = 16'h86dd;
  localparam logic [15:0] CTagType = 16'h8100;  // EtherTypes of VLAN tags: 802.1Q
  localparam logic [15:0] STagType = 16'h88a8;  // 802.1ad
  function automatic logic is_tag(logic [15:0] ether_type);
    return ether_type inside {CTagType, STagType};
  endfunction
  localparam int TagBytes = 4;
  localparam int AddrBytes = 12;  // behind which they stand

  /// The PCI function that a frame is of, or for; 0 the physical one, and the only one where there are no others.
  localparam int MostOwners = 64;
  typedef logic [$clog2(MostOwners)-1:0] owner_t;

  localparam int FilterAt = 'h400;  // of function_filter's registers, behind those of flow_table

  /// Whether frames of a function must have its source address (tx_source); valid for one clock, never refused.
  typedef struct packed {
    logic valid;
    owner_t owner;
    logic check;
    logic [47:0] address;  // the first byte lowest
  } source_rule_t;

  /// A VLAN tag to be put into a frame.
  typedef struct packed {
    logic        valid;
    logic        service;  // 802.1ad
    logic [15:0] tci;
  } tx_vlan_t;

  /// What is to be done with a frame to send (from its first descriptor), valid while its first beat is offered: its checksum,
  /// and its tag.
  typedef struct packed {
    owner_t     owner;   // whose the frame is
    tx_vlan_t   vlan;
    logic       enable;
    logic [7:0] start;   // first byte summed
    logic [7:0] offset;  // where the sum goes, in bytes from `start`
  } tx_csum_t;

  /// What a frame's flow hash is over.
  typedef struct packed {
    logic [3:0]   kind;    // rx_hash's type
    logic [287:0] fields;  // addresses, then ports, from the left, in network order
  } flow_t;

  /// A flow with its hash, one for each frame.
  typedef struct packed {
    logic        valid;
    logic [31:0] hash;
    flow_t flow;
  } flow_found_t;

  // Register words of the table of flows (word address bits 3:0): nine hold the flow.
  localparam logic [3:0] FlowRegFlow = 4'd0, FlowRegAction = 4'd9, FlowRegPut = 4'd10, FlowRegEntries = 4'd11;

  /// The receive queue that the host has named for a flow, if it has.
  typedef struct packed {
    logic        hit;
    logic [15:0] queue;  // any where there is none
  } flow_queue_t;

  /// Of a frame's headers up to and with TCP's or UDP's: words of four bytes behind byte 14; 0: not known. 5 to 22 of them are IP's
  /// and TCP's or UDP's, 4 tags'.
  typedef logic [4:0] header_words_t;

  /// Whether a frame continues the one before it of its flow (rx_follow).
  typedef struct packed {
    logic able;  // a TCP segment that can be joined with others and be told apart again
    logic follows;  // and the one `serial` says before it, byte by byte
    logic push;
    logic [7:0] serial;  // of those that are able in its entry of rx_follow's table, modulo 256
  } rx_follow_t;

  /// What the receive path found out about a frame, one for each frame.
  typedef struct packed {
    ptp_time_t stamp;
    logic [31:0] hash;  // its upper half: the tag, where one was taken out
    logic [3:0] hash_type;  // 0: none
    logic [1:0] stripped;  // 1: a tag of 802.1Q, 2: of 802.1ad
    header_words_t header;
    logic [15:0] csum;
    flow_queue_t steered;
    owner_t owner;  // whom it is for (function_filter)
    rx_follow_t follow;
  } rx_info_t;
endpackage

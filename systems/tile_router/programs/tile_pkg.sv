// SPDX-License-Identifier: Apache-2.0
/// What the programs of tiles, the boot image and the lookup tables have agreed on.
package tile_pkg;
  /// Messages between tiles, besides those of mesh_pkg::message_e.
  localparam int Stop = 20;  // a queue fills: nothing more for this output
  localparam int Go = 21;  // there is room again
  localparam int Exception = 22;  // to the control tile: {bytes (16), why (16)}, payload address, head: a packet that may be answered
  localparam int TablesSeen = 23;  // stage 1 to the control tile, no payload: what has changed in the tables has left its cache
  localparam int OutWords = mesh_pkg::HeadWords + 2;  // of a FrameOut message
  localparam int LinkWords = 4;  // of a head: its Ethernet header, which a message to a stage 4 that makes it leaves out

  // The head: two bytes that mean nothing, 14 bytes of Ethernet, and the IP header from word 4.
  localparam int EthernetBytes = 14;
  localparam int GroupBit = 'h100;  // of word 0: the frame is for a group of stations
  localparam int HeadBytes = 4 * mesh_pkg::HeadWords - 2;
  localparam int HeadIpWords = mesh_pkg::HeadWords - 4;

  /// Why a packet does not go on; the first in this order, which is that of the bench's judge. Also the codes of messages between stages, so none of them is 31 (an interrupt).
  typedef enum logic [4:0] {
    Fine = 5'd0,
    DropNotOurs = 5'd1,  // sent to another station
    DropNotIp = 5'd2,  // not IPv4 by its Ethernet type
    DropShort = 5'd3,  // no room for a header
    DropVersion = 5'd4,  // not version 4
    DropHeader = 5'd5,  // header length below 20 bytes, or beyond the packet
    DropLength = 5'd6,  // total length below the header's, or beyond the frame
    DropOptions = 5'd7,  // header of more than 48 bytes: not all of it is in the head
    DropChecksum = 5'd8,
    DropGroupMac = 5'd9,  // a broadcast or multicast of the link, but not to an IP multicast group (RFC 1812, 5.3.4)
    DropSource = 5'd10,  // no host has that address (RFC 1812, 5.3.7)
    DropDestination = 5'd11,  // an address that is not forwarded
    DropNoRoute = 5'd12,  // not even a default one
    DropTtl = 5'd13,
    DropOwnAddress = 5'd14,  // for the router itself; its place is before DropNoRoute
    DropQueue = 5'd15,  // output queue full: of stage 4
    // Not a reason: a header with options. Two words more come along: the sum of its first 20 bytes, and what is wrong if that is
    // right, or Fine.
    Options = 5'd16
  } verdict_e;
  localparam int Reasons = 15;  // below: reasons of stages 1 and 2

  // The lookup tables (dir24.hpp), in the memory of a region of addresses: an entry for each 24 bits of an address, then blocks
  // of 256 entries for longer prefixes. An entry with EntryLong is the number of a block, another one a port.
  localparam int TableRegion = 8;
  localparam int TableBlocks = 'h0200_0000;  // where the blocks begin, in bytes
  localparam int EntryLong = 'h8000;
  localparam int MostBlocks = 32768;
  localparam int BlockEntries = 256;
  localparam int Ports = 64;
  localparam int PortOwn = 61;  // what an entry says instead of a port: an address of the router itself
  localparam int PortNoRoute = 62;
  localparam int PortMartian = 63;

  // Where routes change (changes.c). In both tables: the line that says what has changed, pairs of an offset in bytes and a
  // number of lines. In one of them also what the control tile alone reads: blocks in use, and for each entry
  // the length of the prefix it is from, a byte each, in the same order (entries of blocks from LengthsOfBlocks).
  localparam int TableChanged = 'h0300_0000;
  localparam int ChangedRanges = 4;
  localparam int TableUsed = 'h0300_0020;
  localparam int TableLengths = 'h0400_0000;
  localparam int LengthsOfBlocks = 'h0500_0000;
  localparam int LengthFixed = 33;  // of an entry that no route changes
  localparam int MostChanged = 32;  // lines at a time: what stage 1 is kept from its work for
  localparam int OtherTableRegion = 14;  // and down: the other tables
  localparam int MostTables = 4;  // on two sides of two bands of pipelines
  localparam int MostPipelines = 16;

  // What the boot image tells a tile, and what the boot port reads while the programs run: at the start of its RAM (link.ld).
  // The last field lies first.

  typedef struct packed {
    logic [31:0] to_control;  // forward: header of Exception messages; lookup: of TablesSeen
    logic [Ports-1:0][31:0] port;  // lookup: header of messages to the output of a port, or a reason; forward: Ethernet headers by output, LinkWords each; output: its own
    logic [31:0] mac_strict;  // checksum: its own Ethernet address; in GroupBit, whether other unicast ones are not for this router
    logic [1:0][31:0] mac;  // the first two bytes in bits 31:16, the others
    logic [31:0] ready_flags;  // flag of the linecard (output), of the packet memory (lookup)
    logic [31:0] own_number;  // output: number of this one
    logic [31:0] number_shift;  // place of the number of a pipeline or output in a place_t: 0 (x) or 4 (y)
    logic [31:0] to_card;  // forward, heads by the GDN: header of an Interrupt to the linecard they come from
    logic [31:0] to_free;  // header of FreeBuffer messages, 0: nothing is freed
    logic [31:0] from;  // forward: frame_out_t of a frame without bytes: where its payload is
    logic [31:0] ring_last;  // lookup: no payload begins after this
    logic [31:0] ring_base;  // lookup: where payloads are kept in that memory
    logic [31:0] to_memory;  // lookup: header of StreamWrite messages
    logic [31:0] to_next;  // header of messages to the next stage (lookup: forward; checksum: lookup; output: its linecard)
  } config_t;

  typedef struct packed {
    logic [31:0] busy;  // forward: packets that the control tile had no room for
    logic [31:0] asked;  // forward: packets that went to the control tile
    logic [31:0] clocks;  // with TIMED: of the stage's task, without the two that taking the time costs
    logic [15:0][31:0] drops;  // by reason
    logic [31:0] deepest;  // output: most packets in the queue
    logic [31:0] queued;  // output: of those sent, how many waited in the queue
    logic [31:0] sent;  // handed on
    logic [31:0] frames;  // taken
  } counters_t;

  // The control tile (control.c): its settings and counters lie where those of other tiles do.
  localparam int ControlPorts = 4;
  localparam int PayloadRegion = 9;  // and up, by pipeline: the packet buffers
  localparam int ReplyRegion = 13;  // memory of the control tile, where it puts what does not fit a head
  localparam int ReplyBytes = 2048;  // of it for each reply
  localparam int Replies = 512;  // at a time: more than can wait for output linecards

  typedef struct packed {
    logic [31:0] from;  // frame_out_t of a frame without bytes: its own memory
    logic [31:0] error_burst;  // ICMP errors at once
    logic [31:0] error_clocks;  // between two over time; 0: none after the first ones
    logic [31:0] leave_clocks;  // between two packets that it takes, over time
    logic [ControlPorts-1:0][31:0] port_of;  // of a pipeline
    logic [ControlPorts-1:0][31:0] stage3;  // header of an Interrupt to the third stage of a pipeline, 0: there is none
    logic [ControlPorts-1:0][31:0] to_output;  // header of FrameOut messages to the output of a port
    logic [ControlPorts-1:0][31:0] address;  // of a port; 0: there is no such port
    logic [2*ControlPorts-1:0][31:0] next_hop;  // Ethernet addresses, by port: bytes 0 and 1 in bits 15:0, then the others
    logic [2*ControlPorts-1:0][31:0] mac;  // the router's own
  } control_config_t;

  // The control tile where routes change. Who changes them (over the boot port) writes a change, then a new number for it, and waits
  // until `done` is that number.
  typedef struct packed {
    logic [31:0] number;  // of the change that is asked for; 0: none yet
    logic [31:0] becomes;  // length of the prefix that its addresses have their result from then
    logic [31:0] result;  // as entries have it: a port or PortNoRoute
    logic [31:0] length;
    logic [31:0] prefix;
    logic [MostPipelines-1:0][31:0] lookup;  // header of an Interrupt to stage 1 of a pipeline, 0: there is none
    logic [31:0] tables;  // how many there are, up to MostTables
  } changes_config_t;

  typedef struct packed {
    logic [31:0] lines;  // that have left caches
    logic [31:0] refused;  // changes for which no block was left
    logic [31:0] done;  // number of the last change that is done: no lookup goes by what was before
  } changes_counters_t;

  /// What the control tile says to a packet, and why it says nothing: numbers of its counters.
  typedef enum logic [3:0] {
    SaidArp,
    SaidEcho,
    SaidTimeExceeded,
    SaidNoRoute,
    SaidProtocolUnreachable,
    SaidPortUnreachable,
    SaidSourceRouteFailed,
    SaidParameterProblem
  } said_e;
  typedef enum logic [3:0] {
    NotArpMalformed,
    NotArpNoRequest,
    NotArpConflict,
    NotArpForOthers,
    NotFragment,
    NotIcmpShort,
    NotIcmpChecksum,
    NotIcmpNoEcho,
    NotNoWayBack,
    NotOwnSource,
    NotGroup,
    NotLaterFragment,
    NotAboutError,
    NotRate,
    NotQueue  // the output's queue is full
  } unsaid_e;
  typedef struct packed {
    logic [14:0][31:0] unanswered;  // by unsaid_e
    logic [7:0][31:0]  answered;    // by said_e
  } control_counters_t;
endpackage

// SPDX-License-Identifier: Apache-2.0
/// Types of IPv4 forwarding in 64-bit words. Addresses are numbers as one writes them: the first byte on the wire leftmost.
package route_pkg;
  typedef logic [47:0] mac_t;
  typedef logic [31:0] ipv4_t;

  localparam int MaxClasses = 4;  // class 0 has the highest priority
  localparam int MaxPeers = 15;  // windows of a card

  typedef logic [3:0] peer_t;  // also the destination of a frame: 0 ... Peers-1, Peers is the slow path
  typedef logic [1:0] class_t;

  localparam int HeaderBytes = 34;  // Ethernet and IPv4 without options

  /// A ternary route: matches when all bits of `value` and of the destination are equal where `mask` is set.
  typedef struct packed {
    logic  valid;
    ipv4_t value;
    ipv4_t mask;
    mac_t  next_hop;
  } route_rule_t;

  /// What frames are classified by (direct-router paper, section III-A).
  typedef struct packed {
    logic [7:0] tos;
    ipv4_t      src;
    ipv4_t      dst;
    logic [7:0] protocol;
  } class_key_t;

  typedef struct packed {
    logic       valid;
    class_key_t value;
    class_key_t mask;
  } class_rule_t;

  localparam int LpmNodeW = 22;  // nodes of a trie: in block RAM and in a memory outside
  localparam int LpmEntryW = LpmNodeW + 4;  // its entries: node * 16 + nibble

  /// Entry of a trie node: the next node, or what the lookup gives.
  typedef struct packed {
    logic                node;
    logic [LpmNodeW-1:0] value;
  } lpm_entry_t;

  /// What the memory outside is asked.
  typedef struct packed {
    logic                 write;
    logic [LpmEntryW-1:0] addr;
    lpm_entry_t           data;
  } lpm_access_t;

  /// An entry there, and in the registers.
  typedef struct packed {
    logic                 node;
    logic [30-LpmNodeW:0] zero;
    logic [LpmNodeW-1:0]  value;
  } lpm_word_t;

  /// Pins of that memory (through its controller), not packed, so that a bench has each by its name. An access is taken where `valid`
  /// and `ready` meet; a read is answered by `rvalid` for a clock, in order, a clock later at the earliest.
  typedef struct {
    logic        valid;
    logic        write;
    logic [31:0] addr;   // of bytes
    logic [31:0] wdata;
  } table_pins_out_t;
  typedef struct {
    logic        ready;
    logic        rvalid;
    logic [31:0] rdata;
  } table_pins_in_t;

  /// What a lookup gives; without `hit` the trie has no end there.
  typedef struct packed {
    logic        hit;
    logic [15:0] value;
  } lpm_result_t;

  /// `value` of an entry that ends a lookup of `ip_route`.
  typedef struct packed {
    logic       slow;    // the host decides, or, with `drop`,
    logic       drop;    // the frame is dropped: a route that leads nowhere
    logic [9:0] unused;
    logic [3:0] peer;
  } lpm_route_t;

  /// How `ip_route` treats frames.
  typedef struct packed {
    logic fast;             // there is a fast path
    logic lpm;              // the trie is loaded
    logic qos;              // else all are in the last class
    logic rewrite_source;   // the MAC source address too
    logic promiscuous;
    logic expired_to_host;  // what another hop would leave without time to live: not dropped
    mac_t mac;              // own address
  } route_mode_t;

  /// What `ip_parse` finds in front of a frame. Fields behind the end of a short frame are whatever came before.
  typedef struct packed {
    logic        complete;      // the frame has HeaderBytes at least
    logic        typed;         // and 14 at least
    mac_t        dst_mac;
    logic [15:0] ethertype;
    logic [3:0]  version;
    logic [3:0]  ihl;
    logic [7:0]  tos;
    logic [15:0] total_length;
    logic [7:0]  ttl;
    logic [7:0]  protocol;
    logic [15:0] checksum;
    ipv4_t       src;
    ipv4_t       dst;
    logic [19:0] half_sum;      // of the ten half words of the header
  } ip_header_t;

  /// What `ip_check` finds.
  typedef struct packed {
    logic ip;            // IPv4, untagged; the others hold only then
    logic bad_header;    // version, header length, total length
    logic bad_checksum;  // header without options only
    logic forwardable;   // no options, unicast, addresses that hosts may have
  } ip_verdict_t;

  /// What `ip_rewrite` does to a frame.
  typedef struct packed {
    peer_t       dest;
    class_t      cls;
    logic        rewrite;       // new addresses, TTL - 1, checksum
    logic        new_source;    // the source address too
    logic        ip;            // check total_length
    logic [15:0] total_length;
    mac_t        next_hop;
    mac_t        source;
    logic [15:0] checksum;      // the new one
    logic        header;        // reasons to drop
    logic        bad_checksum;
    logic        ttl;
    logic        no_route;
    logic        not_ours;
  } route_decision_t;

  /// A frame after routing: `dest`, `cls` hold for the whole frame; `drop` with `eop` erases it.
  typedef struct packed {
    logic [63:0] data;
    logic [3:0]  len;   // valid bytes, 1 ... 8; 8 but at eop
    logic        sop;
    logic        eop;
    logic        drop;
    peer_t       dest;
    class_t      cls;
  } routed_beat_t;

  /// What becomes of a frame that is not forwarded, one bit high for a clock each time.
  typedef struct packed {
    logic bad_fcs;
    logic runt;
    logic oversize;
    logic rx_fifo_full;  // between MAC and bus clock
    logic header;        // version, header length, total length (RFC 1812, 5.2.2)
    logic checksum;      // of the IP header
    logic ttl;           // would reach zero
    logic no_route;      // the route says so
    logic not_ours;      // sent to another MAC address
  } route_drop_t;
endpackage

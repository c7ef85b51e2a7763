// SPDX-License-Identifier: Apache-2.0
/// The AXI4-Stream interfaces of the PCI Express block of UltraScale+ devices, 512 bits wide, Dword-aligned (AMD PG213).
///
/// A TLP is a descriptor (16 bytes of a request, 12 of a completion), then its payload without a gap, first byte in the lowest lane.
/// Where TLPs straddle, a new one begins at a multiple of 32 bytes (RQ) or 16 (RC) right behind the end of the one before.
package usplus_pkg;
  import pcie_pkg::*;

  localparam int UsPlusBytes = 64;  // of the block's bus
  localparam int UsPlusDws = UsPlusBytes / 4;
  localparam int HalfDws = UsPlusDws / 2;  // what a TLP on RQ takes is a multiple of it
  localparam int TlpDws = TlpBeatBytes / 4;  // of a beat of Emery's

  typedef enum logic [3:0] {
    UsMemRead  = 4'b0000,
    UsMemWrite = 4'b0001
  } usplus_type_e;

  // What RC says went wrong, as far as the completion's own status does not.
  localparam logic [3:0] UsErrorNone = 4'd0, UsErrorPoisoned = 4'd1;

  /// Request to send.
  typedef struct packed {
    logic        force_ecrc;
    logic [2:0]  attr;                 // ID-based ordering, relaxed ordering, no snoop
    logic [2:0]  tc;
    logic        requester_id_enable;
    logic [15:0] completer_id;
    logic [7:0]  tag;
    logic [15:0] requester_id;
    logic        poisoned;
    logic [3:0]  req_type;
    logic [10:0] dword_count;
    logic [63:2] addr;
    logic [1:0]  at;
  } rq_desc_t;

  /// Request received.
  typedef struct packed {
    logic        reserved;
    logic [2:0]  attr;
    logic [2:0]  tc;
    logic [5:0]  bar_aperture;
    logic [2:0]  bar_id;
    logic [7:0]  target_function;
    logic [7:0]  tag;
    logic [15:0] requester_id;
    logic        reserved_79;
    logic [3:0]  req_type;
    logic [10:0] dword_count;
    logic [63:2] addr;
    logic [1:0]  at;
  } cq_desc_t;

  /// Completion to send.
  typedef struct packed {
    logic        force_ecrc;
    logic [2:0]  attr;
    logic [2:0]  tc;
    logic        completer_id_enable;
    logic [15:0] completer_id;
    logic [7:0]  tag;
    logic [15:0] requester_id;
    logic        reserved_47;
    logic        poisoned;
    cpl_status_e status;
    logic [10:0] dword_count;
    logic [1:0]  reserved_30;
    logic        locked;
    logic [12:0] byte_count;
    logic [5:0]  reserved_10;
    logic [1:0]  at;
    logic        reserved_7;
    logic [6:0]  lower_addr;
  } cc_desc_t;

  /// Completion received.
  typedef struct packed {
    logic        reserved;
    logic [2:0]  attr;
    logic [2:0]  tc;
    logic        reserved_88;
    logic [15:0] completer_id;
    logic [7:0]  tag;
    logic [15:0] requester_id;
    logic        reserved_47;
    logic        poisoned;
    cpl_status_e status;
    logic [10:0] dword_count;
    logic        reserved_31;
    logic        request_completed;  // the last one of its request
    logic        locked;
    logic [12:0] byte_count;
    logic [3:0]  error;
    logic [11:0] lower_addr;
  } rc_desc_t;

  // Beside the data. Where there are several, the first that starts or ends in the beat has the lowest place; `_ptr` of a
  // start counts 16 bytes, of an end Dwords.
  typedef struct packed {
    logic [63:0]     parity;
    logic [1:0][5:0] seq_num;
    logic [1:0][7:0] tph_st_tag;
    logic [1:0]      tph_indirect_tag_en;
    logic [1:0][1:0] tph_type;
    logic [1:0]      tph_present;
    logic            discontinue;
    logic [1:0][3:0] eop_ptr;
    logic [1:0]      eop;
    logic [1:0][1:0] sop_ptr;
    logic [1:0]      sop;
    logic [1:0][1:0] addr_offset;
    logic [1:0][3:0] last_be;
    logic [1:0][3:0] first_be;
  } rq_user_t;

  typedef struct packed {
    logic [63:0]     parity;
    logic            discontinue;
    logic [3:0][3:0] eop_ptr;
    logic [3:0]      eop;
    logic [3:0][1:0] sop_ptr;
    logic [3:0]      sop;
    logic [63:0]     byte_en;
  } rc_user_t;

  typedef struct packed {
    logic [63:0]     parity;
    logic [1:0][7:0] tph_st_tag;
    logic [1:0][1:0] tph_type;
    logic [1:0]      tph_present;
    logic            discontinue;
    logic [1:0][3:0] eop_ptr;
    logic [1:0]      eop;
    logic [1:0][1:0] sop_ptr;
    logic [1:0]      sop;
    logic [63:0]     byte_en;
    logic [1:0][3:0] last_be;
    logic [1:0][3:0] first_be;
  } cq_user_t;

  typedef struct packed {
    logic [63:0]     parity;
    logic            discontinue;
    logic [1:0][3:0] eop_ptr;
    logic [1:0]      eop;
    logic [1:0][1:0] sop_ptr;
    logic [1:0]      sop;
  } cc_user_t;

  /// What the hard block drives. Not packed, so that a bench has each pin by its name.
  typedef struct {
    logic lnk_up;
    logic rq_tready;
    logic cc_tready;
    logic [511:0] rc_tdata;
    rc_user_t rc_tuser;
    logic rc_tvalid;
    logic [511:0] cq_tdata;
    cq_user_t cq_tuser;
    logic cq_tvalid;
    logic [3:0] tfc_nph_av;  // non-posted header credits, 15 and more are 15
    logic [7:0] cfg_bus_number;
    logic [1:0] cfg_max_payload;
    logic [2:0] cfg_max_read_req;
    logic [15:0] cfg_function_status;
    logic [3:0] cfg_flr_in_process;  // of function i, until the logic has told that it is done
    logic [31:0] cfg_mgmt_read_data;
    logic cfg_mgmt_read_write_done;
    logic cfg_interrupt_msix_enable;
    logic cfg_interrupt_msix_mask;
    // Of the first 63 virtual functions (the block has 252).
    logic [125:0] cfg_vf_status;  // of each: enabled, bus master
    logic [62:0] cfg_vf_flr_in_process;
    logic [62:0] cfg_interrupt_msix_vf_enable;
    logic [62:0] cfg_interrupt_msix_vf_mask;
  } usplus_in_t;

  /// What the logic drives.
  typedef struct {
    logic [511:0] rq_tdata;
    logic [15:0]  rq_tkeep;
    rq_user_t     rq_tuser;
    logic         rq_tlast;
    logic         rq_tvalid;
    logic [511:0] cc_tdata;
    logic [15:0]  cc_tkeep;
    cc_user_t     cc_tuser;
    logic         cc_tlast;
    logic         cc_tvalid;
    logic         rc_tready;
    logic         cq_tready;
    logic [1:0]   cq_np_req;
    logic [9:0]   cfg_mgmt_addr;        // a Dword's
    logic         cfg_mgmt_read;
    logic [3:0]   cfg_flr_done;
    logic         cfg_vf_flr_done;      // of function
    logic [7:0]   cfg_vf_flr_func_num;
  } usplus_out_t;

  /// What goes before the payload of a TLP to send, and beside it.
  typedef struct packed {
    logic [127:0] desc;      // a shorter one in the lowest bits
    logic [3:0]   last_be;
    logic [3:0]   first_be;
  } usplus_head_t;

  /// Half a beat of the block's bus: what goes beside its data.
  typedef struct packed {
    logic                       sop;
    logic                       eop;
    logic [3:0]                 last_be;   // with sop, of the TLP
    logic [3:0]                 first_be;
    logic [$clog2(HalfDws)-1:0] last_dw;   // with eop
  } usplus_mark_t;

  typedef struct packed {
    usplus_mark_t          mark;
    logic [32*HalfDws-1:0] data;
  } usplus_half_t;

  /// A beat of it. The upper half is only used where the lower one is.
  typedef struct packed {
    logic                       upper;
    usplus_mark_t [1:0]         mark;
    logic [1:0][32*HalfDws-1:0] data;
  } usplus_halves_t;

  /// A beat received, with the 16-byte places at which TLPs begin.
  typedef struct packed {
    logic [3:0]   sop_at;
    logic [3:0]   last_be;
    logic [3:0]   first_be;
    logic [511:0] data;
  } usplus_beat_t;

  /// A TLP unpacked: its descriptor, and the payload beat by beat.
  typedef struct packed {
    logic                      sop;
    logic                      eop;
    logic [127:0]              desc;      // with sop; a shorter one in the lowest bits
    logic [3:0]                last_be;
    logic [3:0]                first_be;
    logic [8*TlpBeatBytes-1:0] data;
  } usplus_rx_t;

  /// Dwords as TLP headers count them: 0 is 1024.
  function automatic logic [10:0] dword_count(input logic [9:0] length);
    return {length == '0, length};
  endfunction

  /// Which Dwords of a beat are of a TLP, where only one can be in it; of its last half.
  function automatic logic [UsPlusDws-1:0] keep_of(input logic upper, input usplus_mark_t half);
    logic unused;
    logic [$clog2(UsPlusDws)-1:0] last;
    unused = &{1'b0, half};
    last   = {upper, half.last_dw};
    return half.eop ? ~(16'hfffe << last) : '1;
  endfunction
endpackage

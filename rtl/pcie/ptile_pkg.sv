// SPDX-License-Identifier: Apache-2.0
/// The Avalon-ST interface of the PCI Express block of Intel P-tile, x16: two segments of 256 bits with headers beside (Intel 683059).
///
/// A TLP takes segments one behind the other, as many as its payload needs, one where it has none; the next begins in the segment
/// behind, so two may begin in a clock. Headers are as in pcie_pkg, beside the first segment; payload begins in the lowest lane of
/// it. A `ready` speaks of the clock so many clocks later: valid may be set in that one and in no other.
package ptile_pkg;
  localparam int PTileSegs = 2, PTileSegBytes = 32;
  localparam int PTileSegBits = 8 * PTileSegBytes;
  localparam int PTileTxLatency = 3, PTileRxLatency = 27;  // from ready to its clock
  localparam int PTileLines = 722;  // of 64 bytes: room for completions, 46,208 bytes (1,444 times 256 bits), 1,144 headers

  /// Configuration as the block gives it, 16 bits at a time: those of interest.
  localparam logic [4:0] PTileCfgControl = 5'h00, PTileCfgNumber = 5'h01, PTileCfgMsix = 5'h0c;

  /// Credits, likewise: which limit it is. One of 0 says that there is none.
  typedef enum logic [2:0] {
    PTilePh   = 3'd0,
    PTileNph  = 3'd1,
    PTileCplh = 3'd2,
    PTilePd   = 3'd4,
    PTileNpd  = 3'd5,
    PTileCpld = 3'd6
  } ptile_credit_e;

  /// What the hard block drives. Not packed, so that a bench has each pin by its name.
  typedef struct {
    logic dl_up;
    logic tx_st_ready;
    logic [PTileSegs*PTileSegBits-1:0] rx_st_data;
    logic [PTileSegs*128-1:0] rx_st_hdr;
    logic [PTileSegs-1:0] rx_st_sop;
    logic [PTileSegs-1:0] rx_st_eop;
    logic [PTileSegs-1:0] rx_st_valid;
    logic [15:0] tx_cdts_limit;
    logic [2:0] tx_cdts_limit_tdm_idx;
    logic [4:0] tl_cfg_add;
    logic [2:0] tl_cfg_func;
    logic [15:0] tl_cfg_ctl;
    logic wide_tag_en;  // 10bits_tag_req_en of function 0
    logic [7:0] flr_rcvd_pf;  // of function i, until the logic has told that it is done
  } ptile_in_t;

  /// What the logic drives.
  typedef struct {
    logic                              rx_st_ready;
    logic [PTileSegs*PTileSegBits-1:0] tx_st_data;
    logic [PTileSegs*128-1:0]          tx_st_hdr;
    logic [PTileSegs-1:0]              tx_st_sop;
    logic [PTileSegs-1:0]              tx_st_eop;
    logic [PTileSegs-1:0]              tx_st_valid;
    logic [7:0]                        flr_completed_pf;
  } ptile_out_t;

  /// A segment of either way; `hdr` is meant with `sop`.
  typedef struct packed {
    logic                    valid;
    logic                    sop;
    logic                    eop;
    logic [127:0]            hdr;
    logic [PTileSegBits-1:0] data;
  } ptile_seg_t;
endpackage

// SPDX-License-Identifier: Apache-2.0
/// The pins of a 100G MAC hard block: CMAC of UltraScale+ devices, AXI4-Stream of 512 bits (AMD PG203).
package cmac_pkg;
  import eth_pkg::*;

  /// Time as the block takes it from a timer and gives it with a frame; it does not look at it. Here eth_pkg::ptp_time_t in the low bits.
  typedef logic [79:0] cmac_time_t;

  /// What the block is to do with a frame's time as it leaves: with TxTwoStep it gives it back, with the frame's tag.
  localparam logic [1:0] TxNoStamp = 2'b00, TxTwoStep = 2'b10;

  /// A stream, either way. Not packed, so that a bench has each pin by its name. The first byte is in the lowest lane; all beats
  /// but a frame's last are full. To the block there is no gap inside a frame; from it a beat may come in any clock.
  typedef struct {
    logic tvalid;
    logic [8*FrameBeatBytes-1:0] tdata;
    logic [FrameBeatBytes-1:0] tkeep;
    logic tlast;
    logic tuser;  // with tlast: the frame is bad (FCS error on receive, abort on transmit)
  } cmac_axis_t;

  /// What the block drives: `tx_` in the transmit clock, `rx` in the receive clock.
  typedef struct {
    logic tx_tready;
    logic       tx_ptp_tstamp_valid;  // a frame of TxTwoStep has begun on the line: for a clock, some time after its handshake
    logic [15:0] tx_ptp_tstamp_tag;
    cmac_time_t tx_ptp_tstamp;
    cmac_axis_t rx;  // cannot wait
    cmac_time_t rx_ptp_tstamp;  // with a frame's first beat: when the frame began on the line
  } cmac_in_t;

  /// What the logic drives, likewise.
  typedef struct {
    cmac_axis_t tx;
    logic [1:0] tx_ptp_1588op;  // with a frame's first beat
    logic [15:0] tx_ptp_tag_field;  // likewise
    cmac_time_t tx_systemtimer;
    logic [8:0] tx_pause_req;  // have the far end told to send nothing (8), or nothing of a class (7 ... 0), while it is high; any clock
    logic tx_reset;  // of the block's transmit side: it forgets the frame it was given
    cmac_time_t rx_systemtimer;
    logic rx_reset;  // of its receive side
  } cmac_out_t;
endpackage

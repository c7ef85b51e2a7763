// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frames from the core clock domain to a CMAC hard block, with a time stamp back for each.
///
/// mac_tx, whose contract holds, and its stream as the block has it: a frame has no gap. `mac_clk_i` is the block's transmit clock. The time of a
/// frame is that of its first beat's handshake with the block, in the core's time (ptp_cdc); of a PTP event message (IEEE 1588: EtherType 0x88f7
/// without a tag, message types 0 ... 3) it is when the frame began on the line, as the block says: nothing that waits in the block is in it. No latency of its own. Each side may
/// be reset alone, the MAC's with the block: a frame that it cuts is cut at the pins.
module cmac_tx
  import eth_pkg::*;
  import cmac_pkg::*;
#(
    parameter type Wide = wide_beat_t  // or frame_beat_t
) (
    // Core clock domain.
    input logic         clk_i,
    input logic         rst_i,
    input ptp_time_t    time_i,
          stream_if.snk frame,   // Wide
          stream_if.src stamp,   // ptp_time_t

    // The block's transmit clock.
    input  logic              mac_clk_i,
    input  logic              mac_rst_i,
    input  logic              tx_tready_i,
    input  logic              tstamp_valid_i,
    input  logic       [15:0] tstamp_tag_i,
    input  cmac_time_t        tstamp_i,
    output cmac_axis_t        tx_o,
    output logic       [ 1:0] op_o,
    output logic       [15:0] tag_o,
    output cmac_time_t        timer_o
);
  ptp_time_t mac_time;
  ptp_cdc i_time (
      .clk_i,
      .time_i,
      .mac_clk_i,
      .mac_rst_i,
      .time_o(mac_time)
  );

  // Of an event message its place on the line counts. Its tag is its number.
  logic valid;
  frame_beat_t beat;
  logic [15:0] tag_q, asked_q;
  logic answer_q;  // a clock late: the compare is long
  ptp_time_t answer_time_q;
  wire event_message = {beat.data[8*12+:8], beat.data[8*13+:8]} == PtpType && beat.data[8*14+2+:2] == 2'd0;
  assign op_o = valid && beat.sop && event_message ? TxTwoStep : TxNoStamp;
  assign tag_o = tag_q;
  assign timer_o = cmac_time_t'(mac_time);
  always_ff @(posedge mac_clk_i) begin
    if (op_o == TxTwoStep && tx_tready_i) tag_q <= tag_q + 1'b1;
    if (op_o == TxTwoStep) asked_q <= tag_q;
    answer_q <= tstamp_valid_i && tstamp_tag_i == asked_q;
    answer_time_q <= tstamp_i[TimeW-1:0];
    if (mac_rst_i) tag_q <= '0;
  end
  mac_tx #(
      .Wide(Wide)
  ) i_mac_tx (
      .clk_i,
      .rst_i,
      .frame,
      .stamp,
      .mac_clk_i,
      .mac_rst_i,
      .time_i(mac_time),
      .late_i(op_o == TxTwoStep),
      .late_valid_i(answer_q),
      .late_time_i(answer_time_q),
      .tx_valid_o(valid),
      .tx_ready_i(tx_tready_i),
      .tx_o(beat)
  );
  assign tx_o.tvalid = valid;
  assign tx_o.tdata  = beat.data;
  assign tx_o.tkeep  = ~({FrameBeatBytes{1'b1}} << beat.len);
  assign tx_o.tlast  = beat.eop;
  assign tx_o.tuser  = beat.eop && beat.err;
  wire unused = &{1'b0, tstamp_i[$bits(cmac_time_t)-1:TimeW]};

  `ASSERT(OfferIsStill, valid && !tx_tready_i |=> $stable(beat), mac_clk_i, mac_rst_i)
endmodule

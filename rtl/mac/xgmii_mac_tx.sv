// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The transmit side of xgmii_mac: from a CMAC's pins to XGMII (IEEE 802.3 clauses 4 and 46).
///
/// Takes a beat of 64 bytes in eight clocks, without a gap in a frame, and sends it as xgmii_tx says: at line rate. A frame of which nothing has been taken
/// waits while the line is in fault, while PAUSE says so, and while priority flow control stops its class (by its VLAN tag): those behind
/// it wait too, of whatever class. `stop_i` has the far end told likewise (mac_control_tx). Of a frame that asks (TxTwoStep) the time at
/// which its first byte after the SFD was at the pins comes back with its tag: that of `tx_i.tx_systemtimer` in that clock, and `LaneNs` more when that byte is in lane 4. In reset nothing is ready
/// and the line is idle; a frame under way is lost.
module xgmii_mac_tx
  import eth_pkg::*;
  import cmac_pkg::*;
  import xgmii_pkg::*;
#(
    parameter int LaneNs = 3  // that four lanes take: 3 at 10 Gb/s, 1 at 25 Gb/s
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  xgmii_tx_cfg_t        cfg_i,
    input  link_fault_t          fault_i,
    input  logic          [ 8:0] paused_i,        // as mac_control_rx says
    input  logic          [ 8:0] stop_i,
    input  cmac_axis_t           tx_i,
    input  logic          [ 1:0] op_i,
    input  logic          [15:0] tag_i,
    input  cmac_time_t           timer_i,
    output logic                 ready_o,
    output logic                 stamp_valid_o,
    output logic          [15:0] stamp_tag_o,
    output cmac_time_t           stamp_o,
    output xgmii_t               xgmii_o,
    output logic                 record_valid_o,
    output mac_record_t          record_o
);
  // ---------------------------------------------------------------- frames that may begin
  `STREAM(frame_beat_t, in)
  `STREAM(frame_beat_t, kept)
  `STREAM(half_beat_t, half)
  `STREAM(quarter_beat_t, quarter)
  `STREAM(word_beat_t, word)
  `STREAM(quarter_beat_t, quarter_kept)
  `STREAM(word_beat_t, word_kept)
  `STREAM(word_beat_t, merged)
  typedef struct packed {
    logic control;
    logic pfc;
    word_beat_t word;
  } merged_t;
  `STREAM(merged_t, offered)
  `STREAM(merged_t, taken)
  `STREAM(word_beat_t, out)
  logic inside_q;  // a frame
  logic open_q;  // the one that is offered may begin: a clock after it was offered at the earliest
  logic [6:0] len;
  always_comb begin
    len = '0;
    for (int i = 0; i < FrameBeatBytes; i++)
    if (tx_i.tkeep[i] && (i == FrameBeatBytes - 1 || !tx_i.tkeep[(i+1)%FrameBeatBytes]))
      len |= 7'(i + 1);
  end
  wire has_tag = tx_i.tdata[8*12+:16] == 16'h0081;
  wire [2:0] priority_ = has_tag ? tx_i.tdata[8*14+5+:3] : cfg_i.untagged;
  wire blocked = fault_i != '0 || (cfg_i.pause && paused_i[8]) || (cfg_i.pfc && paused_i[{1'b0, priority_}]);
  wire moves = tx_i.tvalid && ready_o;
  assign ready_o = in.ready && (inside_q || open_q);
  assign in.valid = tx_i.tvalid && (inside_q || open_q);
  assign in.data = '{
          data: tx_i.tdata,
          len: len,
          sop: !inside_q,
          eop: tx_i.tlast,
          err: tx_i.tlast && tx_i.tuser
      };
  always_ff @(posedge clk_i) begin
    if (moves) inside_q <= !tx_i.tlast;
    // Once it may it may, until it has.
    open_q <= (tx_i.tvalid && !inside_q && !blocked && !moves) || (open_q && !moves);
    if (rst_i) {inside_q, open_q} <= '0;
  end

  // ---------------------------------------------------------------- beats to words
  `SPILL(frame_beat_t, i_kept, in, kept)
  beat_narrow #(
      .Beat(half_beat_t),
      .Wide(frame_beat_t)
  ) i_half (
      .clk_i,
      .rst_i,
      .in (kept),
      .out(half)
  );
  beat_narrow #(
      .Beat(quarter_beat_t),
      .Wide(half_beat_t)
  ) i_quarter (
      .clk_i,
      .rst_i,
      .in (half),
      .out(quarter)
  );
  `SPILL(quarter_beat_t, i_quarter_kept, quarter, quarter_kept)
  beat_narrow #(
      .Beat(word_beat_t),
      .Wide(quarter_beat_t)
  ) i_word (
      .clk_i,
      .rst_i,
      .in (quarter_kept),
      .out(word)
  );
  `SPILL(word_beat_t, i_word_kept, word, word_kept)
  logic control, pfc, sfd, sfd_late, sfd_control;
  mac_control_tx i_control (
      .clk_i,
      .rst_i,
      .stop_i,
      .quanta_i(cfg_i.quanta),
      .station_i(cfg_i.station),
      .in(word_kept),
      .out(merged),
      .control_o(control),
      .pfc_o(pfc)
  );
  assign offered.valid = merged.valid;
  assign offered.data  = '{control: control, pfc: pfc, word: merged.data};
  assign merged.ready  = offered.ready;
  `SPILL(merged_t, i_offered, offered, taken)
  assign out.valid = taken.valid;
  assign out.data = taken.data.word;
  assign taken.ready = out.ready;
  xgmii_tx i_tx (
      .clk_i,
      .rst_i,
      .gap_i(cfg_i.gap),
      .fault_i,
      .in(out),
      .control_i(taken.data.control),
      .pfc_i(taken.data.pfc),
      .tx_o(xgmii_o),
      .sfd_o(sfd),
      .sfd_late_o(sfd_late),
      .sfd_control_o(sfd_control),
      .record_valid_o,
      .record_o
  );

  // ---------------------------------------------------------------- stamps: of the frame that asks, counted among those taken
  logic [3:0] taken_q, sent_q, asked_q;
  logic asks_q;
  wire  asks = moves && !inside_q && op_i == TxTwoStep;
  always_ff @(posedge clk_i) begin
    if (moves && !inside_q) taken_q <= taken_q + 1'b1;
    if (sfd && !sfd_control) sent_q <= sent_q + 1'b1;
    if (asks) begin
      asked_q <= taken_q;
      stamp_tag_o <= tag_i;
    end
    stamp_valid_o <= asks_q && sfd && !sfd_control && sent_q == asked_q;
    stamp_o <= timer_i + (sfd_late ? $bits(cmac_time_t)'(LaneNs) : '0);
    asks_q <= asks || (asks_q && !(sfd && !sfd_control && sent_q == asked_q));
    if (rst_i) begin
      {taken_q, sent_q} <= '0;
      {asks_q, stamp_valid_o} <= '0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The receive side of xgmii_mac: from XGMII to a CMAC's pins.
///
/// xgmii_rx and mac_control_rx, whose contracts hold, then words side by side in beats of 64 bytes: they cannot wait. Of a frame the
/// first beat comes with its stamp. `paused_o` and `fault_o`: what the transmit side is to obey. Reset cuts the frame that is coming in.
module xgmii_mac_rx
  import eth_pkg::*;
  import cmac_pkg::*;
  import xgmii_pkg::*;
#(
    parameter int LaneNs = 3
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  xgmii_rx_cfg_t       cfg_i,
    input  xgmii_t              xgmii_i,
    input  cmac_time_t          timer_i,
    output cmac_axis_t          rx_o,
    output cmac_time_t          stamp_o,
    output link_fault_t         fault_o,
    output logic          [8:0] paused_o,
    output logic                record_valid_o,
    output mac_record_t         record_o
);
  logic found_valid, found_record_valid, word_valid, quarter_valid, half_valid, beat_valid;
  word_beat_t found, word;
  ptp_time_t found_at, word_at, quarter_at, half_at, beat_at;
  mac_record_t found_record, frame_record;
  link_fault_t fault_q;
  logic frame_record_valid;
  logic quarter_valid_q;
  quarter_beat_t quarter, quarter_q;
  ptp_time_t   quarter_at_q;
  half_beat_t  half;
  frame_beat_t beat;
  xgmii_rx #(
      .LaneNs(LaneNs)
  ) i_rx (
      .clk_i,
      .rst_i,
      .max_frame_i(cfg_i.max_frame),
      .rx_i(xgmii_i),
      .time_i(timer_i[TimeW-1:0]),
      .valid_o(found_valid),
      .word_o(found),
      .time_o(found_at),
      .record_valid_o(found_record_valid),
      .record_o(found_record),
      .fault_o
  );
  mac_control_rx i_control (
      .clk_i,
      .rst_i,
      .keep_i(cfg_i.keep_control),
      .valid_i(found_valid),
      .word_i(found),
      .time_i(found_at),
      .record_valid_i(found_record_valid),
      .record_i(found_record),
      .valid_o(word_valid),
      .word_o(word),
      .time_o(word_at),
      .record_valid_o(frame_record_valid),
      .record_o(frame_record),
      .paused_o
  );
  beat_widen #(
      .Beat(word_beat_t),
      .Wide(quarter_beat_t)
  ) i_quarter (
      .clk_i,
      .rst_i,
      .valid_i(word_valid),
      .beat_i (word),
      .time_i (word_at),
      .valid_o(quarter_valid),
      .beat_o (quarter),
      .time_o (quarter_at)
  );
  beat_widen #(
      .Beat(quarter_beat_t),
      .Wide(half_beat_t)
  ) i_half (
      .clk_i,
      .rst_i,
      .valid_i(quarter_valid_q),
      .beat_i (quarter_q),
      .time_i (quarter_at_q),
      .valid_o(half_valid),
      .beat_o (half),
      .time_o (half_at)
  );
  beat_widen #(
      .Beat(half_beat_t),
      .Wide(frame_beat_t)
  ) i_beat (
      .clk_i,
      .rst_i,
      .valid_i(half_valid),
      .beat_i (half),
      .time_i (half_at),
      .valid_o(beat_valid),
      .beat_o (beat),
      .time_o (beat_at)
  );
  logic [FrameBeatBytes-1:0] keep;
  always_comb begin
    for (int i = 0; i < FrameBeatBytes; i++) keep[i] = beat.len > 7'(i);
  end
  // sop is for those who count beats: the block's pins have none.
  wire  unused = &{1'b0, beat.sop, timer_i[$bits(cmac_time_t)-1:TimeW]};

  logic clean_q;  // nothing of a frame is missing whose next beat comes
  always_ff @(posedge clk_i) begin
    quarter_valid_q <= quarter_valid && !rst_i;
    quarter_q <= quarter;
    quarter_at_q <= quarter_at;
    rx_o <= '{
        tvalid: beat_valid && !rst_i && (beat.sop || clean_q),
        tdata: beat.data,
        tkeep: keep,
        tlast: beat.eop,
        tuser: beat.eop && beat.err
    };
    stamp_o <= cmac_time_t'(beat_at);
    if (beat_valid) clean_q <= (beat.sop || clean_q) && !beat.eop;
    if (rst_i) clean_q <= 1'b0;
    // Faults that begin are counted with what frames there are.
    fault_q <= fault_o;
    record_valid_o <= frame_record_valid || (fault_o & ~fault_q) != '0;
    record_o <= frame_record;
    if (!frame_record_valid) record_o.hit <= '0;
    record_o.hit[LocalFaults]  <= fault_o.local_ && !fault_q.local_;
    record_o.hit[RemoteFaults] <= fault_o.remote && !fault_q.remote;
    if (rst_i) begin
      record_valid_o <= 1'b0;
      fault_q <= '0;
    end
  end
endmodule

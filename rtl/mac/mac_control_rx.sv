// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// MAC control frames out of what xgmii_rx gives: PAUSE (IEEE 802.3 annex 31B) and priority flow control (802.1Qbb, annex 31D).
///
/// Words, stamps and records go through in 2 clocks; control frames (EtherType 0x8808, to 01-80-C2-00-00-01) do not, unless `keep_i`. Good ones are marked in
/// their record. `paused_o`: bit 8 for as long as the last PAUSE said, bits 7 ... 0 for as long as PFC said of these classes, to a
/// quantum (512 bit times, 8 clocks) longer; from 2 clocks after the frame's end. Reset forgets them. Takes a word in each clock, never waits.
module mac_control_rx
  import eth_pkg::*;
  import xgmii_pkg::*;
(
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic              keep_i,
    input  logic              valid_i,
    input  word_beat_t        word_i,
    input  ptp_time_t         time_i,
    input  logic              record_valid_i,
    input  mac_record_t       record_i,
    output logic              valid_o,
    output word_beat_t        word_o,
    output ptp_time_t         time_o,
    output logic              record_valid_o,
    output mac_record_t       record_o,
    output logic        [8:0] paused_o
);
  function automatic logic [15:0] swapped(logic [15:0] x);
    return {x[7:0], x[15:8]};
  endfunction

  logic [1:0] valid_q, record_valid_q;
  word_beat_t  [1:0] word_q;
  ptp_time_t   [1:0] time_q;
  mac_record_t [1:0] record_q;
  logic hide_q, control_q;  // the frame of word_q[1], of word_q[0] is one
  logic to_control_q;  // the frame's first word says so
  logic pause_q, pfc_q;  // and its opcode
  logic [2:0] number_q;  // of word_i in its frame, at most 7
  wire [2:0] number = word_i.sop ? 3'd0 : number_q;
  wire control = valid_i && number == 3'd1 && to_control_q && word_i.data[47:32] == ControlType;

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[0], valid_i};
    word_q  <= {word_q[0], word_i};
    time_q  <= {time_q[0], time_i};
    if (valid_i) begin
      number_q <= number == 3'd7 ? number : number + 1'b1;
      if (word_i.sop) begin
        to_control_q <= word_i.data[47:0] == ControlMac;
        control_q <= 1'b0;
      end
      if (number == 3'd1) begin
        control_q <= control;
        pause_q <= control && word_i.data[63:48] == PauseOp;
        pfc_q <= control && word_i.data[63:48] == PfcOp;
      end
    end
    // Known when the second word comes: the first is then in word_q[0].
    if (valid_q[0] && word_q[0].sop) hide_q <= control && !keep_i;
    record_valid_q <= {record_valid_q[0], record_valid_i};
    record_q <= {record_q[0], record_i};
    if (record_i.hit[Good] && control_q) begin
      record_q[0].hit[Pause] <= pause_q;
      record_q[0].hit[Pfc] <= pfc_q;
      record_q[0].hit[ControlOther] <= !pause_q && !pfc_q;
    end
    if (rst_i) {valid_q, record_valid_q} <= '0;
  end
  assign valid_o = valid_q[1] && !hide_q;
  assign word_o = word_q[1];
  assign time_o = time_q[1];
  assign record_valid_o = record_valid_q[1];
  assign record_o = record_q[1];

  // ---------------------------------------------------------------- how long
  logic [15:0] vector_q;  // of PFC the classes it is about
  logic [7:0][15:0] times_q;  // of PAUSE its time in place of the vector
  logic apply_pause_q, apply_pfc_q;
  logic [2:0] part_q;  // of a quantum
  logic [8:0][16:0] left_q;  // quanta
  wire good_end = valid_i && word_i.eop && !word_i.err && !word_i.sop && control_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      unique case (number)
        3'd2: begin
          vector_q <= swapped(word_i.data[15:0]);
          for (int i = 0; i < 3; i++) times_q[i] <= swapped(word_i.data[16*i+16+:16]);
        end
        3'd3: for (int i = 0; i < 4; i++) times_q[i+3] <= swapped(word_i.data[16*i+:16]);
        3'd4: times_q[7] <= swapped(word_i.data[15:0]);
        default: ;
      endcase
    end
    apply_pause_q <= good_end && pause_q;
    apply_pfc_q <= good_end && pfc_q;
    part_q <= part_q + 1'b1;
    for (int i = 0; i < 9; i++) begin
      if (part_q == '0 && left_q[i] != '0) left_q[i] <= left_q[i] - 1'b1;
      // What is left of the quantum under way comes on top.
      if (i < 8 && apply_pfc_q && vector_q[i%8])
        left_q[i] <= times_q[i%8] == '0 ? '0 : 17'(times_q[i%8]) + 17'd1;
      if (i == 8 && apply_pause_q) left_q[i] <= vector_q == '0 ? '0 : 17'(vector_q) + 17'd1;
      paused_o[i] <= left_q[i] != '0;
    end
    if (rst_i) begin
      {apply_pause_q, apply_pfc_q} <= '0;
      left_q <= '0;
      paused_o <= '0;
    end
  end
endmodule

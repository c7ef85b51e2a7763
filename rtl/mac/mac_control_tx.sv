// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// PAUSE and priority flow control frames between those of a stream of words (IEEE 802.3 annexes 31B and 31D).
///
/// While a bit of `stop_i` is high the far end is to send nothing (8), or nothing of a class (7 ... 0): a frame says so when it rises, again
/// each half of `quanta_i`, and takes it back when it falls; a level that returns before its frame began is told of with it or not at all. Such a frame goes before the stream's next, and
/// `control_o`, `pfc_o` are high beside it. The stream passes without latency, one word a clock, full back-pressure. Reset cuts what is under way; then
/// the far end is taken to know of nothing. `quanta_i` from 2 on; it and `station_i` may change at any time.
module mac_control_tx
  import eth_pkg::*;
  import xgmii_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic [8:0] stop_i,
    input logic [15:0] quanta_i,
    input logic [47:0] station_i,
    stream_if.snk in,  // word_beat_t
    stream_if.src out,  // word_beat_t
    output logic control_o,
    output logic pfc_o
);
  function automatic logic [15:0] swapped(logic [15:0] x);
    return {x[7:0], x[15:8]};
  endfunction

  logic own_q, pfc_q, inside_q;  // own_q: our frame is offered
  logic [2:0] number_q;
  logic [8:0]
      told_q, about_q, on_q;  // what the far end knows; of the frame: which it is about, which stop
  logic [16:0] age_q[2];  // half quanta since a frame of PFC, of PAUSE; at most all ones
  logic [1:0] part_q;
  logic [15:0] quanta_q;
  logic [47:0] station_q;
  logic [1:0] due_q;
  word_beat_t own;
  logic [7:0][15:0] times;
  always_comb begin
    for (int i = 0; i < 8; i++) times[i] = on_q[i] ? swapped(quanta_q) : '0;
    own = '{data: '0, len: 4'd8, sop: number_q == 3'd0, eop: number_q == 3'd7, err: 1'b0};
    unique case (number_q)
      3'd0: own.data = {station_q[15:0], ControlMac};
      3'd1: own.data = {pfc_q ? PfcOp : PauseOp, ControlType, station_q[47:16]};
      3'd2:
      own.data = pfc_q ? {times[2:0], swapped({8'd0, about_q[7:0]})} :
          {48'd0, on_q[8] ? swapped(quanta_q) : 16'd0};
      3'd3: if (pfc_q) own.data = times[6:3];
      3'd4: if (pfc_q) own.data[15:0] = times[7];
      3'd7: own.len = 4'd4;
      default: ;
    endcase
  end
  assign out.valid = own_q || in.valid;
  assign out.data = own_q ? own : in.data;
  assign in.ready = !own_q && out.ready;
  assign control_o = own_q;
  assign pfc_o = pfc_q;

  word_beat_t passing;
  assign passing = in.data;
  wire passes = in.valid && in.ready;
  wire free = passes ? passing.eop : !inside_q && !in.valid;
  wire starts = !own_q && free && due_q != '0;

  always_ff @(posedge clk_i) begin
    if (passes) inside_q <= !passing.eop;
    part_q <= part_q + 1'b1;
    for (int i = 0; i < 2; i++) if (&part_q && !(&age_q[i])) age_q[i] <= age_q[i] + 1'b1;
    due_q[0] <= stop_i[7:0] != told_q[7:0] || (told_q[7:0] != '0 && age_q[0] >= 17'(quanta_i));
    due_q[1] <= stop_i[8] != told_q[8] || (told_q[8] && age_q[1] >= 17'(quanta_i));
    if (starts) begin
      own_q <= 1'b1;
      number_q <= '0;
      pfc_q <= !due_q[1];
      about_q <= stop_i | told_q;
      on_q <= stop_i;
      quanta_q <= quanta_i;
      station_q <= station_i;
      due_q <= '0;
      if (due_q[1]) told_q[8] <= stop_i[8];
      else told_q[7:0] <= stop_i[7:0];
      age_q[due_q[1]?1 : 0] <= '0;
    end else if (own_q && out.ready) begin
      number_q <= number_q + 1'b1;
      own_q <= number_q != 3'd7;
    end
    if (own_q) due_q <= '0;  // it is about what has changed since, too
    if (rst_i) begin
      {own_q, inside_q, number_q} <= '0;
      {told_q, due_q} <= '0;
      age_q <= '{default: '0};
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
/// Words of 64 bits as the bytes of a 1G MAC, behind mac_tx.
///
/// The bytes of the word that is offered go out from the lowest lane on, one in each clock in which the MAC is ready; the word is
/// taken with its last byte. No clock is lost between words. `err` goes with the frame's last byte. Reset begins a word anew.
module byte_unpack
  import eth_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       word_valid_i,
    output logic       word_ready_o,
    input  word_beat_t word_i,
    output logic       byte_valid_o,
    input  logic       byte_ready_i,
    output byte_beat_t byte_o
);
  logic [2:0] lane_q;
  wire last_lane = 4'(lane_q) + 4'd1 == word_i.len;
  wire sent = word_valid_i && byte_ready_i;
  assign byte_valid_o = word_valid_i;
  assign byte_o = '{
          data: word_i.data[{lane_q, 3'd0}+:8],
          sop: word_i.sop && lane_q == 3'd0,
          eop: word_i.eop && last_lane,
          err: word_i.err && last_lane
      };
  assign word_ready_o = sent && last_lane;

  always_ff @(posedge clk_i) begin
    if (sent) lane_q <= last_lane ? 3'd0 : lane_q + 1'b1;
    if (rst_i) lane_q <= 3'd0;
  end
endmodule

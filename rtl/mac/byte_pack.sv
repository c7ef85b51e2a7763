// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The bytes of a 1G MAC as words of 64 bits, for mac_rx.
///
/// A word comes out in the clock of its last byte; `word_valid_o` is then high. It never waits: a byte a clock. `err` comes with
/// the frame's last word. The bytes behind the end of a frame are zero. Reset loses the word that is begun; the words of a frame
/// whose start it took have none marked (mac_rx drops them).
module byte_pack
  import eth_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       byte_valid_i,
    input  byte_beat_t byte_i,
    output logic       word_valid_o,
    output word_beat_t word_o
);
  logic [55:0] bytes_q;
  logic [2:0] lane_q;
  logic sop_q;  // the word that is begun begins a frame
  wire [2:0] lane = byte_i.sop ? 3'd0 : lane_q;
  assign word_valid_o = byte_valid_i && (lane == 3'd7 || byte_i.eop);
  always_comb begin
    word_o = '0;
    if (word_valid_o) begin
      word_o.data = {8'd0, bytes_q};
      word_o.data[{lane, 3'd0}+:8] = byte_i.data;
      word_o.len = 4'(lane) + 4'd1;
      word_o.sop = sop_q || byte_i.sop;
      word_o.eop = byte_i.eop;
      word_o.err = byte_i.eop && byte_i.err;
    end
  end

  always_ff @(posedge clk_i) begin
    if (byte_valid_i) begin
      lane_q <= word_valid_o ? 3'd0 : lane + 1'b1;
      if (word_valid_o) bytes_q <= '0;
      else bytes_q[{lane, 3'd0}+:8] <= byte_i.data;
      sop_q <= (sop_q || byte_i.sop) && !word_valid_o;
    end
    if (rst_i) begin
      bytes_q <= '0;
      lane_q  <= 3'd0;
      sop_q   <= 1'b0;
    end
  end

  `ASSERT(StartBehindEnd, byte_valid_i && byte_i.sop |-> lane_q == 3'd0)
endmodule

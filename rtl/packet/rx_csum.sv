// SPDX-License-Identifier: Apache-2.0
/// Receive checksum: ones' complement sum of a frame from byte 14 (the end of the Ethernet header) to its end, as Linux's
/// CHECKSUM_COMPLETE has it (host-nic paper, section II-E).
///
/// Watches the beats of a stream of frames. The sum is not inverted and in network order; an odd last byte is the high half
/// of a word. `valid_o` comes 4 clocks after a last beat, one frame a clock, and is never refused. Reset drops the
/// frames inside.
module rx_csum
  import eth_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    // A beat of a frame moves.
    input logic       valid_i,
    input wide_beat_t beat_i,

    output logic        valid_o,
    output logic [15:0] csum_o
);
  localparam logic [7:0] HeaderBytes = 8'd14;

  csum_sum #(
      .Bytes(WideBeatBytes)
  ) i_sum (
      .clk_i,
      .rst_i,
      .valid_i,
      .first_i(beat_i.sop),
      .last_i (beat_i.eop),
      .data_i (beat_i.data),
      .from_i (beat_i.sop ? HeaderBytes : 8'd0),
      .to_i   (beat_i.len),
      .valid_o,
      .sum_o  (csum_o)
  );

  wire unused = &{1'b0, beat_i.err};
endmodule

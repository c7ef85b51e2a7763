// SPDX-License-Identifier: Apache-2.0
/// A beat of a record into staging memory: its words turned to where they go in a row of 16 lanes. Registered, never refused.
module cap_place
  import cap_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic write_i,
    input logic [$clog2(MaxLinks)-1:0] link_i,
    input logic [PageIdW+3:0] row_i,
    input logic [PageIdW+3:0] next_row_i,  // of what wraps around
    input logic [3:0] lane_i,  // of the first word
    input logic [3:0] lane_n_i,  // its complement (rotate)
    input logic [4:0] words_i,
    input logic [8*BeatBytes-1:0] data_i,

    output logic [MaxLinks-1:0] stage_valid_o,
    output stage_write_t stage_o
);
  logic [8*BeatBytes-1:0] turned;
  rotate #(
      .Lanes(16),
      .LaneBits(64)
  ) i_rotate (
      .valid_i (write_i),
      .turn_i  (lane_i),
      .turn_n_i(lane_n_i),
      .data_i,
      .data_o  (turned)
  );

  always_ff @(posedge clk_i) begin
    stage_valid_o <= '0;
    if (write_i) begin
      stage_valid_o[link_i] <= !rst_i;
      stage_o.row <= row_i;
      stage_o.next_row <= next_row_i;
      stage_o.data <= turned;
      for (int i = 0; i < 16; i++) begin
        stage_o.lanes[i]  <= {1'b0, 4'(4'(i) - lane_i)} < words_i;
        stage_o.second[i] <= 4'(i) < lane_i;
      end
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=2
`include "formal.svh"
/// rotate: as synthesis gets it and as simulation gets it, it is the same turn, either way and by any number of lanes.
module rotate_formal (
    input logic         clk_i,
    input logic         rst_i,
    input logic [  4:0] turn_i,
    input logic [127:0] data_i
);
  `FORMAL_BEGIN
  for (genvar right = 0; right < 2; right++) begin : g_right
    for (genvar split = 0; split < 2; split++) begin : g_split
      logic [127:0] all;
      rotate #(
          .Lanes(32),
          .LaneBits(4),
          .Right(1'(right)),
          .Split(1'(split))
      ) i_all (
          .valid_i (1'b1),
          .turn_i,
          .turn_n_i(~turn_i),
          .data_i,
          .data_o  (all)
      );
      // Fewer turns than lanes.
      logic [95:0] some;
      rotate #(
          .Lanes(24),
          .LaneBits(4),
          .TurnW(4),
          .Right(1'(right)),
          .Split(1'(split))
      ) i_some (
          .valid_i (1'b1),
          .turn_i  (turn_i[3:0]),
          .turn_n_i(~turn_i[3:0]),
          .data_i  (data_i[95:0]),
          .data_o  (some)
      );
      wire [127:0] want_all = right == 1 ? 128'({data_i, data_i} >> {turn_i, 2'd0}) :
          128'({data_i, data_i} >> (8'd128 - {1'b0, turn_i, 2'd0}));
      wire [95:0] want_some = right == 1 ? 96'({data_i[95:0], data_i[95:0]} >> {turn_i[3:0], 2'd0}) :
          96'({data_i[95:0], data_i[95:0]} >> (8'd96 - {2'd0, turn_i[3:0], 2'd0}));
      always_comb begin
        if (started_q) begin
          assert (all == want_all);
          assert (some == want_some);
        end
      end
    end
  end
  always_comb if (started_q) cover (g_right[0].g_split[1].all != data_i);
  wire unused = &{1'b0, clk_i, rst_i};
endmodule

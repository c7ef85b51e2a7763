// SPDX-License-Identifier: Apache-2.0
/// The copying of a probe's transfers, beat by beat, at the pace of `cfg_i.cost`: `ready_o` says when the next beat may be taken,
/// `beat_o` which of its transfer it is. `last_i`, with `take_i`, ends a transfer.
module probe_copy
  import probe_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input probe_cfg_t cfg_i,

    input  logic take_i,  // only while ready
    input  logic last_i,
    output logic ready_o,

    output logic [$clog2(ProbeMost / ProbeBeatBytes)-1:0] beat_o
);
  wire [13:0] cost = 14'(cfg_i.cost.beat) + (beat_o[1:0] == '0 ? 14'(cfg_i.cost.piece) : 14'd0) +
      (beat_o == '0 ? 14'(cfg_i.cost.setup) : 14'd0);
  probe_pace i_pace (
      .clk_i,
      .rst_i,
      .take_i,
      .cost_i(cost),
      .ready_o
  );
  always_ff @(posedge clk_i) begin
    if (take_i) beat_o <= last_i ? '0 : beat_o + 1'b1;
    if (rst_i) beat_o <= '0;
  end

  wire unused = &{1'b0, cfg_i.enable, cfg_i.len, cfg_i.base, cfg_i.window, cfg_i.step, cfg_i.in_flight, cfg_i.delay,
      cfg_i.cost.apart};
endmodule

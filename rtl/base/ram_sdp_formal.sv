// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=8
`include "formal.svh"
/// ram_sdp: a read gives, a clock later, what was written last to each lane of its word before that clock, and that stays until
/// the next read; with enables for lanes and without.
module ram_sdp_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic [1:0] we_i,
    input logic [1:0] waddr_i,
    input logic [3:0] wdata_i,
    input logic       re_i,
    input logic [1:0] raddr_i,
    input logic [1:0] watched_i
);
  `FORMAL_BEGIN
  logic [1:0] watched_q;
  always_ff @(posedge clk_i) watched_q <= watched_i;
  always_comb if (started_q) assume (watched_i == watched_q);

  for (genvar lanes = 1; lanes <= 2; lanes++) begin : g_lanes
    localparam int LaneW = 4 / lanes;
    logic [3:0] rdata;
    ram_sdp #(
        .Width(4),
        .Depth(4),
        .Lanes(lanes)
    ) dut (
        .clk_i,
        .we_i(we_i[lanes-1:0]),
        .waddr_i,
        .wdata_i,
        .re_i,
        .raddr_i,
        .rdata_o(rdata)
    );
    logic [lanes-1:0] written_q = '0, known_q = '0;
    logic [3:0] word_q, want_q;
    for (genvar i = 0; i < lanes; i++) begin : g_lane
      always_ff @(posedge clk_i) begin
        if (we_i[i] && waddr_i == watched_i) begin
          written_q[i] <= 1'b1;
          word_q[i*LaneW+:LaneW] <= wdata_i[i*LaneW+:LaneW];
        end
        if (re_i) begin
          known_q[i] <= raddr_i == watched_i && written_q[i];
          want_q[i*LaneW+:LaneW] <= word_q[i*LaneW+:LaneW];
        end
        if (!started_q) written_q[i] <= 1'b0;
      end
      always_comb
        if (started_q && known_q[i]) assert (rdata[i*LaneW+:LaneW] == want_q[i*LaneW+:LaneW]);
    end
    always_comb cover (started_q && &known_q && word_q != want_q && !re_i);
  end
  wire unused = &{1'b0, rst_i};
endmodule

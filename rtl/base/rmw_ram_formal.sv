// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
/// rmw_ram: an operation on any one word sees what the operation before it on that word left (zero for the first), whatever
/// happens to the other words at whatever distance.
module rmw_ram_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       start_i,
    input logic [1:0] index_i,
    input logic [1:0] next_i,
    input logic [1:0] watched_i
);
  `FORMAL_BEGIN
  localparam int Depth = 4;
  logic ready;
  logic [1:0] now;
  rmw_ram #(
      .T(logic [1:0]),
      .Depth(Depth)
  ) dut (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .start_i,
      .index_i,
      .now_o  (now),
      .next_i
  );

  // Operations on the watched word, and what they left.
  logic [1:0] watched_q, word_q = '0;
  logic read_q = 1'b0, update_q = 1'b0, again_q = 1'b0;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    read_q <= start_i && index_i == watched_i;
    update_q <= read_q;
    if (update_q) begin
      word_q  <= next_i;
      again_q <= 1'b1;
    end
  end
  always_comb begin
    if (!ready || !started_q) assume (!start_i);
    if (started_q) assume (watched_i == watched_q);
    if (update_q) assert (now == word_q);
    cover (update_q && read_q && again_q && now == 2'd3);
    cover (update_q && !again_q);
  end
endmodule

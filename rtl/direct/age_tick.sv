// SPDX-License-Identifier: Apache-2.0
/// Ticks four times in `limit_i` clocks, for timeouts of many things at once: what was seen at five ticks has waited for
/// `limit_i` to 1.25 times `limit_i` clocks (limits are taken as multiples of 4, from 4). Never ticks when `limit_i` is 0.
module age_tick (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] limit_i,
    output logic        tick_o
);
  logic [29:0] count_q;
  always_ff @(posedge clk_i) begin
    tick_o <= 1'b0;
    if (count_q + 1'b1 >= limit_i[31:2]) begin
      count_q <= '0;
      tick_o  <= limit_i != '0;
    end else begin
      count_q <= count_q + 1'b1;
    end
    if (rst_i) begin
      count_q <= '0;
      tick_o  <= 1'b0;
    end
  end
endmodule

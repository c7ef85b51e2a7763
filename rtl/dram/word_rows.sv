// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Gathers words of 16 bytes that cannot wait into rows of 64; a part's last row may be short, its rest is undefined.
///
/// A row goes out in the clock after its last word, and must be taken at once. Reset forgets a row begun.
module word_rows (
    input logic                 clk_i,
    input logic                 rst_i,
    input logic                 valid_i,
    input logic                 last_i,   // of its part
    input logic         [127:0] data_i,
          stream_if.src         row       // row_t
);
  logic [1:0] place_q;
  logic full_q;
  logic [3:0][127:0] words_q;
  always_ff @(posedge clk_i) begin
    full_q <= valid_i && (last_i || place_q == 2'd3);
    if (valid_i) begin
      words_q[place_q] <= data_i;
      place_q <= last_i ? '0 : place_q + 1'b1;
    end
    if (rst_i) begin
      place_q <= '0;
      full_q  <= 1'b0;
    end
  end
  assign row.valid = full_q;
  assign row.data  = words_q;

  `ASSERT(RowPlaceKept, full_q |-> row.ready)
endmodule

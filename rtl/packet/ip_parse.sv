// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Picks the Ethernet and IPv4 header out of the words of a frame and adds up the header's half words.
///
/// `header` has one entry for each frame, valid in the clock after its fifth word, or after its last if that comes earlier.
/// One word a clock; only the first word of a frame waits, until the header of the frame before was taken. What the
/// header says is classified by `ip_check`. Drops nothing; reset forgets a frame.
module ip_parse
  import eth_pkg::*, route_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    stream_if.snk in,     // word_beat_t
    stream_if.src header  // ip_header_t
);
  localparam logic [2:0] Rest = 3'd5;  // words behind the header

  word_beat_t word;
  ip_header_t header_q;
  logic full_q;
  logic [2:0] at_q;  // number of the next word in its frame
  assign word = in.data;
  wire unused = word.err;  // what it says is still true, as far as it goes

  // A half word of the frame, the byte that comes first leftmost.
  function automatic logic [15:0] half(logic [63:0] data, int i);
    return {data[16*i+:8], data[16*i+8+:8]};
  endfunction

  wire first = at_q == 3'd0;
  wire moves = in.valid && in.ready;
  wire last_of_header = moves && at_q != Rest && (word.eop || at_q == 3'd4);

  assign in.ready = !(first && full_q);
  assign header.valid = full_q;
  assign header.data = header_q;

  wire [15:0] half0 = half(word.data, 0);
  wire [15:0] half1 = half(word.data, 1);
  wire [15:0] half2 = half(word.data, 2);
  wire [15:0] half3 = half(word.data, 3);

  always_ff @(posedge clk_i) begin
    if (moves) begin
      unique case (at_q)
        3'd0: begin
          header_q.complete <= 1'b0;
          header_q.typed <= 1'b0;
          header_q.dst_mac <= {half0, half1, half2};
        end
        3'd1: begin
          header_q.typed <= word.len >= 4'd6;
          header_q.ethertype <= half2;
          {header_q.version, header_q.ihl, header_q.tos} <= half3;
          header_q.half_sum <= 20'(half3);
        end
        3'd2: begin
          header_q.total_length <= half0;
          {header_q.ttl, header_q.protocol} <= half3;
          header_q.half_sum <= header_q.half_sum + 20'(half0) + 20'(half1) + 20'(half2) + 20'(half3);
        end
        3'd3: begin
          header_q.checksum <= half0;
          header_q.src <= {half1, half2};
          header_q.dst[31:16] <= half3;
          header_q.half_sum <= header_q.half_sum + 20'(half0) + 20'(half1) + 20'(half2) + 20'(half3);
        end
        3'd4: begin
          header_q.complete  <= word.len >= 4'd2;
          header_q.dst[15:0] <= half0;
          header_q.half_sum  <= header_q.half_sum + 20'(half0);
        end
        default: ;
      endcase
      at_q <= word.eop ? 3'd0 : at_q == Rest ? Rest : at_q + 1'b1;
    end
    full_q <= last_of_header || (full_q && !header.ready);
    if (rst_i) begin
      at_q   <= 3'd0;
      full_q <= 1'b0;
    end
  end

  `ASSERT(StartMarked, moves |-> word.sop == first)
endmodule

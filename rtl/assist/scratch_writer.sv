// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Writes parts into the scratchpad, a word a clock, through a crossbar port.
///
/// `part` says where the bytes go, `row` brings them: byte i of the part in byte (address mod 16) + i of its rows. Only the
/// part's bytes are written. Of a part that failed each word is that of `fill_i` which its address mod 16 names. `done_o` is high for a clock when the crossbar took the last word. A clock is lost between
/// parts. Reset forgets all.
module scratch_writer
  import core_pkg::*;
  import assist_pkg::*;
  import dram_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic [3:0][31:0] fill_i,
    stream_if.snk part,  // read_part_t
    stream_if.snk row,  // row_t

    // Crossbar port: stores only.
    output logic     req_valid_o,
    output mem_req_t req_o,
    input  logic     req_ready_i,

    output logic done_o
);
  // The part under way: words by their place in its rows.
  logic busy_q, first_q, failed_q;
  logic [ 1:0] first_byte_q;
  logic [31:4] base_q;
  logic [9:0] word_q, last_word_q;
  logic [1:0] last_byte_q;
  read_part_t arrived;
  local_part_t next;
  assign arrived = part.data;
  assign next = arrived.part;
  wire [11:0] next_last = next.len - 1'b1 + 12'(next.addr[3:0]);

  wire last = word_q == last_word_q;
  wire go = req_valid_o && req_ready_i;
  assign part.ready = !busy_q;
  assign req_valid_o = busy_q && row.valid;
  assign req_o = '{
          op: Store,
          addr: {base_q, 4'h0} + 32'({word_q, 2'b00}),
          wdata: failed_q ? fill_i[word_q[1:0]] : row.data[32*word_q[3:0]+:32],
          be:
          (
          first_q ? 4'hf << first_byte_q : 4'hf
          ) & (
          last ? 4'hf >> (2'd3 - last_byte_q) : 4'hf
          )
      };
  assign row.ready = go && (last || word_q[3:0] == 4'd15);

  always_ff @(posedge clk_i) begin
    if (part.valid && part.ready) begin
      busy_q <= 1'b1;
      first_q <= 1'b1;
      failed_q <= arrived.failed;
      first_byte_q <= next.addr[1:0];
      base_q <= next.addr[31:4];
      word_q <= 10'(next.addr[3:2]);
      last_word_q <= next_last[11:2];
      last_byte_q <= next_last[1:0];
    end else if (go) begin
      busy_q  <= !last;
      first_q <= 1'b0;
      word_q  <= word_q + 1'b1;
    end
    done_o <= go && last;
    if (rst_i) begin
      busy_q <= 1'b0;
      done_o <= 1'b0;
    end
  end

  `ASSERT(PartOfGoodSize, part.valid |-> next.len inside {[1 : MaxPart]})
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Reads parts from the scratchpad, a word a clock, through a crossbar port.
///
/// Gives the bytes as rows of 64: byte i of the part in byte (address mod 16) + i of its rows; the rest is undefined. A row
/// that cannot be given on holds up the loads behind it. A clock is lost between parts. Reset forgets all.
module scratch_reader
  import core_pkg::*;
  import dram_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    stream_if.snk part,  // local_part_t
    stream_if.src row,  // row_t

    // Crossbar port: loads only.
    output logic     req_valid_o,
    output mem_req_t req_o,
    input  logic     req_ready_i,
    input  logic     rsp_valid_i,
    input  mem_rsp_t rsp_i
);
  logic busy_q, waiting_q;
  logic [31:4] base_q;
  logic [9:0] word_q, last_word_q;  // to be asked for
  logic [3:0] place_q;  // of the word asked for
  logic ends_q;  // it completes the row
  logic [15:0][31:0] words_q;
  logic full_q;
  local_part_t next;
  assign next = part.data;
  wire [11:0] next_last = next.len - 1'b1 + 12'(next.addr[3:0]);
  wire unused = &{1'b0, next_last[1:0], next.addr[1:0], rsp_i.error};

  // No word of the next row is requested before this row has gone.
  wire last = word_q == last_word_q;
  wire fills = rsp_valid_i && ends_q;
  assign part.ready = !busy_q;
  assign req_valid_o = busy_q && (!waiting_q || (rsp_valid_i && !ends_q)) && !full_q;
  assign req_o = '{op: Load, addr: {base_q, 4'h0} + 32'({word_q, 2'b00}), wdata: '0, be: '1};
  wire go = req_valid_o && req_ready_i;

  always_ff @(posedge clk_i) begin
    if (part.valid && part.ready) begin
      busy_q <= 1'b1;
      base_q <= next.addr[31:4];
      word_q <= 10'(next.addr[3:2]);
      last_word_q <= next_last[11:2];
    end else if (go) begin
      busy_q <= !last;
      word_q <= word_q + 1'b1;
    end
    if (go) begin
      waiting_q <= 1'b1;
      place_q <= word_q[3:0];
      ends_q <= last || word_q[3:0] == 4'd15;
    end else if (rsp_valid_i) begin
      waiting_q <= 1'b0;
    end
    if (rsp_valid_i) words_q[place_q] <= rsp_i.rdata;
    if (fills) full_q <= 1'b1;
    else if (row.ready) full_q <= 1'b0;
    if (rst_i) begin
      busy_q <= 1'b0;
      waiting_q <= 1'b0;
      full_q <= 1'b0;
    end
  end
  assign row.valid = full_q;
  assign row.data  = words_q;

  `ASSERT(PartOfGoodSize, part.valid |-> next.len inside {[1 : MaxPart]})
  `ASSERT(AnswersAreWanted, rsp_valid_i |-> waiting_q)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Fetches the commands of an assist from their ring in the scratchpad (core-nic paper, section 4).
///
/// The ring has 2^log_i commands of `Words` words from `base_i` on. While `producer_i` is ahead of what was fetched, the words
/// are loaded one after the other through a crossbar port, one a clock without contention, and given on as one command
/// with its first word lowest. Commands wait in a FIFO of `Depth`, so at most that many are fetched before they are
/// wanted. A word at an address without a slave reads 0. Settings must not change while the ring is in use. Reset forgets all.
module ring_fetch
  import core_pkg::*;
#(
    parameter int Words = 4,
    parameter int Depth = 4
) (
    input logic clk_i,
    input logic rst_i,

    // Ring.
    input logic [31:0] base_i,
    input logic [ 3:0] log_i,
    input logic [31:0] producer_i,

    // Crossbar port.
    output logic     req_valid_o,
    output mem_req_t req_o,
    input  logic     req_ready_i,
    input  logic     rsp_valid_i,
    input  mem_rsp_t rsp_i,

    // logic [Words-1:0][31:0]
    stream_if.src command
);
  localparam int WordW = Words > 1 ? $clog2(Words) : 1;
  localparam int CountW = $clog2(Depth + 1);
  if (Words < 2 || Depth < 2) begin : g_bad_parameter
    $fatal(1, "ring_fetch: Words %0d or Depth %0d is too small", Words, Depth);
  end
  typedef logic [Words-1:0][31:0] command_t;

  logic [31:0] fetched_q;
  logic [WordW-1:0] word_q, got_q;
  logic waiting_q;
  logic [Words-2:0][31:0] words_q;
  logic [CountW-1:0] count;
  `STREAM(command_t, whole)

  // A command is begun when it will find a place, behind the one that just comes.
  wire begin_ok = fetched_q != producer_i && count + CountW'(whole.valid) < CountW'(Depth);
  wire [31:0] index = fetched_q & ((32'd1 << log_i) - 1'b1);
  assign req_valid_o = (word_q != '0 || begin_ok) && (!waiting_q || rsp_valid_i);
  assign req_o = '{
          op: Load,
          addr: base_i + ((index * 32'(Words) + 32'(word_q)) << 2),
          wdata: '0,
          be: '1
      };

  wire taken = req_valid_o && req_ready_i;
  wire last = word_q == WordW'(Words - 1);
  wire [31:0] value = rsp_i.error ? '0 : rsp_i.rdata;

  always_ff @(posedge clk_i) begin
    if (taken) begin
      got_q  <= word_q;
      word_q <= last ? '0 : word_q + 1'b1;
      if (last) fetched_q <= fetched_q + 1'b1;
    end
    if (taken) waiting_q <= 1'b1;
    else if (rsp_valid_i) waiting_q <= 1'b0;
    for (int i = 0; i < Words - 1; i++) begin
      if (rsp_valid_i && got_q == WordW'(i)) words_q[i] <= value;
    end
    if (rst_i) begin
      fetched_q <= '0;
      word_q <= '0;
      waiting_q <= 1'b0;
    end
  end

  assign whole.valid = rsp_valid_i && got_q == WordW'(Words - 1);
  assign whole.data  = {value, words_q};
  fifo #(
      .T(command_t),
      .Depth(Depth)
  ) i_commands (
      .clk_i,
      .rst_i,
      .in(whole),
      .out(command),
      .count_o(count)
  );

  `ASSERT(PlaceKept, whole.valid |-> whole.ready)
  `ASSERT(AnswersAreWanted, rsp_valid_i |-> waiting_q)
endmodule

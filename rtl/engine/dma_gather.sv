// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Gathers the statuses of a client's DMA requests, of which a job (a packet) makes 0 to 15, and says when all of a job are there.
///
/// The statuses come in the order of the requests and are never refused: a place for each is reserved with its request
/// (`request_i`, which may only come while `room_o` is high). The oldest job is shown by `valid_i` and its number of requests;
/// `done_o` is high when the last of its statuses is there, with `error_o` the first failure among them, and the client may
/// then take the job (`take_i`). A status is used in each clock: a job of n requests takes n clocks, one of none a clock. Reset
/// forgets all requests.
module dma_gather
  import dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter ram_sel_t Sel = '0,  // the client's: other statuses do not count
    parameter int Depth = 512  // requests whose statuses were not used yet
) (
    input logic clk_i,
    input logic rst_i,

    input dma_status_t status_i,

    // Requests made.
    output logic room_o,
    input  logic request_i,

    // Oldest job.
    input  logic         valid_i,
    input  logic   [3:0] requests_i,
    output logic         done_o,
    output error_e       error_o,
    input  logic         take_i
);
  localparam int CountW = $clog2(Depth + 1);
  logic [CountW-1:0] owed_q, answers;
  logic   [3:0] answered_q;  // of the job's requests
  error_e       failed_q;  // the first failure among them

  `STREAM(dma_result_e, answer_in)
  `STREAM(dma_result_e, answer)
  assign answer_in.valid = status_i.valid && status_i.sel == Sel;
  assign answer_in.data  = status_i.result;
  fifo #(
      .T(dma_result_e),
      .Depth(Depth)
  ) i_answers (
      .clk_i,
      .rst_i,
      .in(answer_in),
      .out(answer),
      .count_o(answers)
  );

  wire need = answered_q != requests_i;
  wire last = answered_q + 4'd1 == requests_i;
  wire use_answer = valid_i && need && answer.valid && (take_i || !last);
  assign answer.ready = use_answer;
  assign done_o = !need || (answer.valid && last);
  assign room_o = owed_q < CountW'(Depth);
  always_comb begin
    error_o = failed_q;
    if (failed_q == ErrNone && need && answer.valid) error_o = error_of(answer.data);
  end

  always_ff @(posedge clk_i) begin
    if (take_i) answered_q <= '0;
    else if (use_answer) answered_q <= answered_q + 1'b1;
    if (take_i) failed_q <= ErrNone;
    else if (use_answer) failed_q <= error_o;
    owed_q <= owed_q + CountW'(request_i) - CountW'(use_answer);
    if (rst_i) begin
      answered_q <= '0;
      failed_q   <= ErrNone;
      owed_q     <= '0;
    end
  end

  `ASSERT(TakenWhenDone, take_i |-> valid_i && done_o)
  `ASSERT(AnswersFit, answer_in.valid |-> answer_in.ready)
  `ASSERT(AnswersWereOwed, answer_in.valid |-> answers < owed_q)
endmodule

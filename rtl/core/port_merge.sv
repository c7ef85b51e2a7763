// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Two users of one crossbar port.
///
/// Round robin access by access; a choice, once offered, is kept until it is taken. One access with an answer is
/// outstanding at a time: the next goes out in the clock of its answer at the earliest. Combinational both ways, one access
/// a clock. Reset clears whose answer is outstanding.
module port_merge
  import core_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    // Users.
    input  logic     [1:0] req_valid_i,
    input  mem_req_t [1:0] req_i,
    output logic     [1:0] req_ready_o,
    output logic     [1:0] rsp_valid_o,
    output mem_rsp_t       rsp_o,

    // Crossbar port.
    output logic     req_valid_o,
    output mem_req_t req_o,
    input  logic     req_ready_i,
    input  logic     rsp_valid_i,
    input  mem_rsp_t rsp_i
);
  logic last_q, kept_q, keep_q, waiting_q, owner_q;
  // The other one than last time, if it has a request.
  wire choice = keep_q ? kept_q : req_valid_i[!last_q] ? !last_q : last_q;

  assign req_valid_o = |req_valid_i && (!waiting_q || rsp_valid_i);
  assign req_o = req_i[choice];
  wire taken = req_valid_o && req_ready_i;
  assign req_ready_o = {taken && choice, taken && !choice};
  assign rsp_valid_o = {rsp_valid_i && owner_q, rsp_valid_i && !owner_q};
  assign rsp_o = rsp_i;

  always_ff @(posedge clk_i) begin
    keep_q <= req_valid_o && !req_ready_i;
    kept_q <= choice;
    if (taken) last_q <= choice;
    if (taken && req_o.op != Store) begin
      waiting_q <= 1'b1;
      owner_q   <= choice;
    end else if (rsp_valid_i) begin
      waiting_q <= 1'b0;
    end
    if (rst_i) begin
      keep_q <= 1'b0;
      last_q <= 1'b0;
      waiting_q <= 1'b0;
    end
  end

  `ASSERT(OfferIsKept, keep_q |-> req_valid_i[kept_q])
endmodule

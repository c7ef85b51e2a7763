// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// MEM stage's data port: loads wait for their answer, stores go on and leave what was not taken in a one-entry buffer.
///
/// The instruction in MEM stands on `access_i` ... until `done_o`. A load is done in the clock of its answer, `rdata_o`. With
/// `Ahead` a Load that is still in EX (`ahead_i`) is offered when nothing older needs the port: if it is taken, and
/// is in MEM in the next clock (`ahead_kept_i`, late), the answer of a free bank finds it there; if not, its answer is dropped, or it
/// asks once more from MEM. A store (or anything else whose answer is dropped) is done at once, unless the buffer is full; without
/// `Ahead` also when it is just emptied. Everything goes out in order; at most one answer is outstanding. What was begun goes on
/// to its end whatever becomes of the core: `idle_o` says nothing is left.
/// While not done: `conflict_o`, what is offered, be it from the buffer, is not taken; `behind_o`, an access from the buffer is
/// taken, or its answer is waited for, before the one in MEM can be offered; else the one in MEM waits for its answer. `posted_error_o`: the answer to
/// a buffered access was an error, two clocks after it was taken or later; `posted_pc_o` the instruction.
module core_mem
  import core_pkg::*;
#(
    parameter bit Ahead = 1'b1
) (
    input logic clk_i,
    input logic rst_i,
    // the instruction in MEM
    input logic present_i,  // there is an access in MEM, `access_i`: and it may be offered
    input logic access_i,
    input logic held_i,  // it may not, but will be
    input logic posted_i,  // through the buffer
    input mem_req_t access_req_i,
    input region_t access_region_i,
    input logic [31:0] access_pc_i,
    output logic done_o,
    output logic answered_o,  // a load is done
    output logic conflict_o,
    output logic behind_o,
    output logic [31:0] rdata_o,
    output logic error_o,  // of the load that is done now
    output logic posted_error_o,
    output logic [31:0] posted_pc_o,
    output logic idle_o,
    // the Load in EX
    input logic ahead_i,
    input logic [31:0] ahead_addr_i,
    input region_t ahead_region_i,
    input logic ahead_kept_i,
    // without Ahead: the address of what is in EX, and of the request in the next clock, if there is one then
    input logic [31:0] ex_addr_i,
    output logic [31:0] next_addr_o,
    // data port
    output logic req_valid_o,
    output mem_req_t req_o,
    output region_t req_region_o,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input mem_rsp_t rsp_i,
    input logic store_error_i
);
  logic full_q, sent_q, waiting_q, dropped_q, denied_q;
  mem_req_t buffer_q;
  region_t  buffer_region_q;
  logic [31:0] buffer_pc_q, posted_pc_q;

  // An answer may be outstanding from a buffered access, whose reader has gone, or from the load in MEM.
  wire port_free = !waiting_q || rsp_valid_i;
  wire offer = access_i && !sent_q;
  wire free_for_ahead = Ahead && !full_q && !(present_i && !sent_q);
  wire ahead = free_for_ahead && ahead_i;
  wire taken = req_valid_o && req_ready_i;

  assign req_valid_o = port_free && (full_q || offer || ahead);
  always_comb begin
    req_o = full_q ? buffer_q : access_req_i;
    // Without Ahead whether there is a request comes too late to be told here, too.
    req_region_o = !Ahead || (port_free && (full_q || offer)) ? (full_q ? buffer_region_q : access_region_i) : '0;
    if (port_free && ahead) req_region_o = ahead_region_i;
    if (free_for_ahead) begin
      req_o.op   = Load;
      req_o.addr = {ahead_addr_i[31:2], 2'd0};
    end
  end

  // What is in MEM and was not taken is offered again, be it from the buffer; else the next is what is in EX.
  always_comb begin
    next_addr_o = ex_addr_i;
    if (present_i && !sent_q && (full_q || held_i || !port_free || !req_ready_i))
      next_addr_o = access_req_i.addr;
    if (full_q && !(port_free && req_ready_i)) next_addr_o = buffer_q.addr;
  end

  assign answered_o = sent_q && rsp_valid_i;
  // What is in the buffer is offered without regard to what is in MEM.
  assign done_o = posted_i ? (!full_q || (!Ahead && port_free && req_ready_i)) : answered_o;
  // Of a load that was not taken ahead, the clock in which it is taken is the one that cost.
  assign conflict_o = offer && port_free && (!req_ready_i || denied_q);
  assign behind_o = offer && (!port_free || (full_q && req_ready_i));
  assign rdata_o = rsp_i.rdata;
  assign error_o = answered_o && rsp_i.error;
  wire posted_error = store_error_i || (rsp_valid_i && waiting_q && !sent_q && !dropped_q && rsp_i.error);
  assign idle_o = !full_q && !waiting_q && !posted_error_o;

  // What is in MEM goes into the buffer unless it goes right through.
  wire fill = offer && posted_i && (full_q ? !Ahead && taken : !taken);

  always_ff @(posedge clk_i) begin
    // While it is empty, whatever is in MEM.
    if ((!full_q || (!Ahead && taken)) && `WORTH(offer && posted_i)) begin
      buffer_q <= access_req_i;
      buffer_region_q <= access_region_i;
      buffer_pc_q <= access_pc_i;
    end
    if (taken) posted_pc_q <= full_q ? buffer_pc_q : access_pc_i;
    posted_error_o <= posted_error;
    posted_pc_o <= posted_pc_q;
    full_q <= fill || (full_q && !taken);
    if (access_i && !done_o) sent_q <= sent_q || (taken && !full_q);
    else sent_q <= ahead && taken && ahead_kept_i;
    dropped_q <= ahead && taken ? !ahead_kept_i : dropped_q && !rsp_valid_i;
    denied_q  <= port_free && !taken && (ahead || (denied_q && offer));
    waiting_q <= taken ? req_o.op != Store : waiting_q && !rsp_valid_i;
    if (rst_i) begin
      full_q <= 1'b0;
      sent_q <= 1'b0;
      waiting_q <= 1'b0;
      dropped_q <= 1'b0;
      denied_q <= 1'b0;
      posted_error_o <= 1'b0;
    end
  end
endmodule

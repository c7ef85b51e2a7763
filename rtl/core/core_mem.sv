// SPDX-License-Identifier: Apache-2.0
/// MEM stage's data port: loads wait for their answer, stores go on and leave what was not taken in a one-entry buffer.
///
/// The instruction in MEM stands on `access_i` ... until `done_o`. A load is done in the clock of its answer, `rdata_o`: two
/// clocks on a free bank. A store (or anything else whose answer is dropped) is done at once, unless the buffer is full
/// and not emptied in this clock. Everything goes out in order; at most one answer is outstanding. What was begun goes on to
/// its end whatever becomes of the core: `idle_o` says nothing is left.
/// While not done: `conflict_o`, what is offered, be it from the buffer, is not taken; `behind_o`, an access from the buffer is
/// taken, or its answer is waited for, before the one in MEM can be offered; else the one in MEM waits for its answer. `posted_error_o`: the answer to
/// a buffered access is an error, in the clock after it was taken or later; `posted_pc_o` the instruction.
module core_mem
  import core_pkg::*;
(
    input  logic            clk_i,
    input  logic            rst_i,
    // the instruction in MEM
    input  logic            access_i,
    input  logic            posted_i,        // through the buffer
    input  mem_req_t        access_req_i,
    input  logic     [31:0] access_pc_i,
    output logic            done_o,
    output logic            conflict_o,
    output logic            behind_o,
    output logic     [31:0] rdata_o,
    output logic            error_o,         // of the load that is done now
    output logic            posted_error_o,
    output logic     [31:0] posted_pc_o,
    output logic            idle_o,
    // data port
    output logic            req_valid_o,
    output mem_req_t        req_o,
    input  logic            req_ready_i,
    input  logic            rsp_valid_i,
    input  mem_rsp_t        rsp_i,
    input  logic            store_error_i
);
  logic full_q, sent_q, waiting_q;
  mem_req_t buffer_q;
  logic [31:0] buffer_pc_q;

  // An answer may be outstanding from a buffered access, whose reader has gone, or from the load in MEM.
  wire port_free = !waiting_q || rsp_valid_i;
  wire offer = access_i && !sent_q;
  wire taken = req_valid_o && req_ready_i;

  assign req_valid_o = port_free && (full_q || offer);
  assign req_o = full_q ? buffer_q : access_req_i;

  assign done_o = posted_i ? (!full_q || taken) : (sent_q && rsp_valid_i);
  assign conflict_o = offer && port_free && !req_ready_i;
  assign behind_o = offer && (!port_free || (full_q && req_ready_i));
  assign rdata_o = rsp_i.rdata;
  assign error_o = access_i && sent_q && rsp_valid_i && rsp_i.error;
  assign posted_error_o = store_error_i || (rsp_valid_i && waiting_q && !sent_q && rsp_i.error);
  assign idle_o = !full_q && !waiting_q;

  // What is in MEM goes into the buffer unless it goes right through.
  wire fill = offer && posted_i && (full_q ? taken : !taken);

  always_ff @(posedge clk_i) begin
    if (fill) begin
      buffer_q <= access_req_i;
      buffer_pc_q <= access_pc_i;
    end
    if (taken) posted_pc_o <= full_q ? buffer_pc_q : access_pc_i;
    full_q <= fill || (full_q && !taken);
    sent_q <= access_i && !done_o && (sent_q || (taken && !full_q));
    waiting_q <= taken ? req_o.op != Store : waiting_q && !rsp_valid_i;
    if (rst_i) begin
      full_q <= 1'b0;
      sent_q <= 1'b0;
      waiting_q <= 1'b0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Completion (or event) queues as one block: a completion writer and the manager that gives it places.
///
/// With several `Functions`, each of which has its share of the queues, records of `Packets` number their queues as the function does, and
/// `Burst` writes of registers, as those of drivers that arm them for their interrupts, wait here and hold up no other register. See cpl_write for throughput and delay, cpl_queue_manager for registers and notification.
module cpl_queues
  import queue_pkg::*;
  import dma_pkg::*;
#(
    parameter int Queues = 256,
    parameter int Lines = 64,
    parameter int Functions = 1,
    parameter int Targets = Queues,  // of all functions
    parameter bit Packets = 0,  // records are cpl_t, of as many queues
    parameter int Burst = 32,
    parameter ram_sel_t Sel = '0
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
           reg_if.slave              regs,
    input  logic              [15:0] max_delay_i,
           stream_if.snk             record,       // record_t
    // DMA write engine.
           stream_if.src             dma,          // dma_req_t
    input  dma_status_t              status_i,
    input  ram_read_t                ram_i,
    output ram_row_t                 ram_o,
    // To the event path.
           stream_if.src             notify,       // notify_t
           stream_if.src             error,        // queue_error_t
    output logic                     refused_o,
    output cpl_write_events_t        events_o
);
  `STREAM(queue_t, enq_req)
  `STREAM(enq_rsp_t, enq_rsp)
  `STREAM(commit_t, commit)

  `STREAM(record_t, told)
  assign told.valid = record.valid;
  if (Functions > 1 && Packets) begin : g_own_numbers
    assign told.data = numbered(record.data, Queues / Functions);
  end else begin : g_numbers
    assign told.data = record.data;
  end
  assign record.ready = told.ready;

  cpl_write #(
      .Queues(Queues),
      .Lines(Lines),
      .Sel(Sel)
  ) i_write (
      .clk_i,
      .rst_i,
      .max_delay_i,
      .record(told),
      .enq_req,
      .enq_rsp,
      .commit,
      .dma,
      .status_i,
      .ram_i,
      .ram_o,
      .events_o
  );
  reg_if #(.AddrW(regs.AddrW)) held[1] ();
  if (Functions > 1) begin : g_burst
    reg_demux #(
        .N(1),
        .AddrW(regs.AddrW),
        .AtOnce(1),
        .Held(Burst),
        .Size((regs.AddrW)'(1) << (regs.AddrW - 1))
    ) i_burst (
        .clk_i,
        .rst_i,
        .in(regs),
        .out(held),
        .unmapped_o()
    );
  end else begin : g_one
    assign held[0].req = regs.req;
    assign held[0].write = regs.write;
    assign held[0].addr = regs.addr;
    assign held[0].wdata = regs.wdata;
    assign held[0].wstrb = regs.wstrb;
    assign regs.ack = held[0].ack;
    assign regs.rdata = held[0].rdata;
  end
  cpl_queue_manager #(
      .Queues(Queues),
      .Functions(Functions),
      .Targets(Targets)
  ) i_manager (
      .clk_i,
      .rst_i,
      .regs(held[0]),
      .enq_req,
      .enq_rsp,
      .commit,
      .notify,
      .error,
      .refused_o
  );
endmodule

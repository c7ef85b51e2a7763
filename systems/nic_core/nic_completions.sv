// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Completions and events of an interface (paper, section II-D).
///
/// Wiring only. Records of all ports go to the completion queues of their way, notifications and errors to event queues, and
/// those to interrupt vectors. With `Shared` receive queues are not of a port each: their records go in the order of `rx_order`. DMA clients, in order: transmit completions, receive completions, events.
module nic_completions
  import queue_pkg::*;
  import dma_pkg::*;
#(
    parameter int Ports = 1,
    parameter int TxQueues = 256,
    parameter int RxQueues = 256,
    parameter int EventQueues = 32,
    parameter int CplLines = 64,
    parameter int Functions = 1,
    parameter bit Shared = 0,
    parameter ram_sel_t Sel = '0
) (
    input logic clk_i,
    input logic rst_i,

    // Registers: cpl_queue_regs[] of host_nic.rdl.
    reg_if.slave tx_regs,
    reg_if.slave rx_regs,
    reg_if.slave event_regs,
    input logic [15:0] max_delay_i,

    // record_t of each port; queue_error_t of transmit and receive queues.
    stream_if.snk tx_record[Ports],
    stream_if.snk rx_record[Ports],
    stream_if.snk error[2],
    stream_if.snk rx_order,  // port_t

    // DMA: dma_req_t.
           stream_if.src dma     [3],
    input  dma_status_t  status_i,
    input  ram_read_t    ram_i,
    output ram_row_t     ram_o,

    // Interrupts: vector numbers, queue_t.
    stream_if.src vector,

    // The error just reported; for one clock each: records lost (events, receive, transmit), queue registers refused (likewise).
    output logic               error_valid_o,
    output queue_error_t       error_o,
    output event_e             error_kind_o,
    output logic         [2:0] lost_o,
    output logic         [2:0] refused_o
);
  `STREAM(record_t, record[3])
  `STREAM(notify_t, notify[3])
  `STREAM(queue_error_t, any_error[4])
  `STREAM(queue_error_t, event_error)
  cpl_write_events_t tx_events, rx_events, event_events;
  ram_row_t [2:0] row;

  arb_rr #(
      .T(record_t),
      .N(Ports)
  ) i_tx_record (
      .clk_i,
      .rst_i,
      .in(tx_record),
      .out(record[0]),
      .index_o()
  );
  if (Shared) begin : g_rx_order
    stream_order #(
        .T(record_t),
        .N(Ports)
    ) i_rx_record (
        .clk_i,
        .rst_i,
        .in(rx_record),
        .order(rx_order),
        .out(record[1])
    );
  end else begin : g_rx_any
    assign rx_order.ready = 1'b1;
    arb_rr #(
        .T(record_t),
        .N(Ports)
    ) i_rx_record (
        .clk_i,
        .rst_i,
        .in(rx_record),
        .out(record[1]),
        .index_o()
    );
  end
  for (genvar i = 0; i < 2; i++) begin : g_error
    assign any_error[i].valid = error[i].valid;
    assign any_error[i].data = error[i].data;
    assign error[i].ready = any_error[i].ready;
  end
  event_mux #(
      .Functions(Functions),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .EventQueues(EventQueues)
  ) i_event_mux (
      .clk_i,
      .rst_i,
      .tx_notify(notify[0]),
      .rx_notify(notify[1]),
      .error(any_error),
      .record(record[2]),
      .error_valid_o,
      .error_o,
      .error_kind_o
  );
  cpl_queues #(
      .Queues(TxQueues),
      .Lines(CplLines),
      .Functions(Functions),
      .Targets(EventQueues),
      .Packets(1),
      .Sel(Sel)
  ) i_tx_cpl (
      .clk_i,
      .rst_i,
      .regs(tx_regs),
      .max_delay_i,
      .record(record[0]),
      .dma(dma[0]),
      .status_i,
      .ram_i,
      .ram_o(row[0]),
      .notify(notify[0]),
      .error(any_error[2]),
      .refused_o(refused_o[0]),
      .events_o(tx_events)
  );
  cpl_queues #(
      .Queues(RxQueues),
      .Lines(CplLines),
      .Functions(Functions),
      .Targets(EventQueues),
      .Packets(1),
      .Sel(Sel + ram_sel_t'(1))
  ) i_rx_cpl (
      .clk_i,
      .rst_i,
      .regs(rx_regs),
      .max_delay_i,
      .record(record[1]),
      .dma(dma[1]),
      .status_i,
      .ram_i,
      .ram_o(row[1]),
      .notify(notify[1]),
      .error(any_error[3]),
      .refused_o(refused_o[1]),
      .events_o(rx_events)
  );
  cpl_queues #(
      .Queues(EventQueues),
      .Lines(8),
      .Functions(Functions),
      .Sel(Sel + ram_sel_t'(2))
  ) i_events (
      .clk_i,
      .rst_i,
      .regs(event_regs),
      .max_delay_i(16'd4),
      .record(record[2]),
      .dma(dma[2]),
      .status_i,
      .ram_i,
      .ram_o(row[2]),
      .notify(notify[2]),
      .error(event_error),
      .refused_o(refused_o[2]),
      .events_o(event_events)
  );
  assign lost_o = {event_events.lost, rx_events.lost, tx_events.lost};
  assign event_error.ready = 1'b1;  // there is no queue to report it to; event_lost counts
  assign vector.valid = notify[2].valid;
  assign vector.data = notify[2].data.target;
  assign notify[2].ready = vector.ready;
  ram_row_or #(
      .N(3)
  ) i_ram_row (
      .row_i(row),
      .row_o(ram_o)
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Turns notifications and errors of an interface's queues into event records.
///
/// A notification goes to the event queue its completion queue names; an error goes to event queue 0 and shows for one
/// clock on `error_o`. With `Functions`, each of which has its share of all queues, in their order, it goes to the first event queue of the
/// function whose queue it is, and records number queues as that function does. One record a clock, round robin over the sources, full back-pressure, registered output.
module event_mux #(
    parameter int Functions = 1,
    parameter int TxQueues = 1,
    parameter int RxQueues = 1,
    parameter int EventQueues = 1
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk tx_notify,  // notify_t
    stream_if.snk rx_notify,  // notify_t
    stream_if.snk error[4],  // queue_error_t of: TX, RX, TX completion, RX completion queues
    stream_if.src record,  // record_t
    // The error just reported.
    output logic error_valid_o,
    output queue_pkg::queue_error_t error_o,
    output queue_pkg::event_e error_kind_o
);
  import queue_pkg::*;

  function automatic record_t to_record(queue_t event_queue, event_e kind, queue_t source,
                                        error_e code);
    event_t entry;
    entry = '0;
    entry.kind = kind;
    entry.source = source;
    entry.code = code;
    return '{cq: event_queue, record: entry};
  endfunction
  // Of each function; with one all numbers stay as they are.
  function automatic int each_of(bit receive);
    return (receive ? RxQueues : TxQueues) / Functions;
  endfunction
  function automatic queue_t number_of(bit receive, queue_t queue);
    return Functions > 1 ? own_number(queue, each_of(receive)) : queue;
  endfunction
  function automatic queue_t events_of(bit receive, queue_t queue);
    return Functions > 1 ?
        16'(owner_of(queue, each_of(receive))) << $clog2(EventQueues / Functions) : '0;
  endfunction

  localparam event_e [3:0] ErrorKind = {EvtRxCqError, EvtTxCqError, EvtRxError, EvtTxError};

  `STREAM(record_t, source[6])
  assign source[0].valid = tx_notify.valid;
  assign source[0].data = to_record(
      tx_notify.data.target, EvtTxCpl, number_of(0, tx_notify.data.cq), ErrNone
  );
  assign tx_notify.ready = source[0].ready;
  assign source[1].valid = rx_notify.valid;
  assign source[1].data = to_record(
      rx_notify.data.target, EvtRxCpl, number_of(1, rx_notify.data.cq), ErrNone
  );
  assign rx_notify.ready = source[1].ready;

  logic [3:0] error_taken;
  queue_error_t [3:0] error_data;
  for (genvar i = 0; i < 4; i++) begin : g_error
    assign source[2+i].valid = error[i].valid;
    localparam bit Receive = i % 2 == 1;
    assign source[2+i].data = to_record(
        events_of(
            Receive, error[i].data.queue
        ),
        ErrorKind[i],
        number_of(
            Receive, error[i].data.queue
        ),
        error[i].data.code
    );
    assign error[i].ready = source[2+i].ready;
    assign error_taken[i] = error[i].valid && error[i].ready;
    assign error_data[i] = error[i].data;
  end

  always_comb begin
    error_valid_o = |error_taken;
    error_o = error_data[0];
    error_kind_o = ErrorKind[0];
    for (int i = 1; i < 4; i++) begin
      if (error_taken[i]) begin
        error_o = error_data[i];
        error_kind_o = ErrorKind[i];
      end
    end
  end

  `STREAM(record_t, chosen)
  logic [2:0] unused_index;
  arb_rr #(
      .T(record_t),
      .N(6)
  ) i_arb (
      .clk_i,
      .rst_i,
      .in(source),
      .out(chosen),
      .index_o(unused_index)
  );
  `SPILL(record_t, i_out, chosen, record)

  `ASSERT(OneErrorAtATime, $onehot0(error_taken))
endmodule

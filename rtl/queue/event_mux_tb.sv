// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// event_mux: every notification and error becomes one record with the right fields, for the right event queue.
module event_mux_tb #(
    parameter int Functions = 1,
    parameter int TxQueues = 60001,
    parameter int RxQueues = 50000,
    parameter int EventQueues = 1
);
  import queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)

  `STREAM_ON(notify_t, tx_notify, clk, rst)
  `STREAM_ON(notify_t, rx_notify, clk, rst)
  `STREAM_ON(queue_error_t, error[4], clk, rst)
  `STREAM_ON(record_t, record, clk, rst)
  logic error_valid;
  queue_error_t error_data;
  event_e error_kind;
  event_mux #(
      .Functions(Functions),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .EventQueues(EventQueues)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .tx_notify,
      .rx_notify,
      .error,
      .record,
      .error_valid_o(error_valid),
      .error_o(error_data),
      .error_kind_o(error_kind)
  );

  // Expected records in order of each kind.
  record_t expected[event_e][$];
  int unsigned errors_in = 0, errors_shown = 0;
  logic run = 0;

  // The event queue of a notification is named by it, of an error it is the first of the function whose queue it is.
  function automatic void expect_record(event_e kind, queue_t source, bit receive, bit notified,
                                        queue_t event_queue, error_e code);
    event_t entry = '0;
    int each;
    each = (receive ? RxQueues : TxQueues) / Functions;
    entry.kind = kind;
    entry.source = queue_t'(int'(source) % each);
    entry.code = code;
    if (!notified) event_queue = queue_t'(int'(source) / each * (EventQueues / Functions));
    expected[kind].push_back('{cq: event_queue, record: entry});
  endfunction

  `STREAM_SOURCE(notify_t, i_tx_notify, tx_notify, 100)
  `STREAM_SOURCE(notify_t, i_rx_notify, rx_notify, 100)
  `STREAM_SINK(record_t, i_record, record, 67)
  always @(posedge clk) begin
    if (tx_notify.valid && tx_notify.ready && !rst)
      expect_record(EvtTxCpl, tx_notify.data.cq, 0, 1, tx_notify.data.target, ErrNone);
    if (rx_notify.valid && rx_notify.ready && !rst)
      expect_record(EvtRxCpl, rx_notify.data.cq, 1, 1, rx_notify.data.target, ErrNone);
    if (run && $urandom_range(1) == 0 && i_tx_notify.queue.size() == 0)
      i_tx_notify.queue.push_back('{cq: queue_t'($urandom_range(TxQueues - 1)),
                                  target: queue_t'($urandom())});
    if (run && $urandom_range(3) == 0 && i_rx_notify.queue.size() == 0)
      i_rx_notify.queue.push_back('{cq: queue_t'($urandom_range(RxQueues - 1)),
                                  target: queue_t'($urandom())});
    if (error_valid && !rst) errors_shown++;
    if (record.valid && record.ready && !rst) begin
      event_t entry;
      entry = record.data.record;
      `CHECK(expected[entry.kind].size() != 0 && expected[entry.kind].pop_front() == record.data,
             "wrong record")
    end
  end

  logic [3:0] waiting;
  localparam event_e Kind[4] = '{EvtTxError, EvtRxError, EvtTxCqError, EvtRxCqError};
  for (genvar i = 0; i < 4; i++) begin : g_error
    `STREAM_SOURCE(queue_error_t, i_error, error[i], 100)
    assign waiting[i] = error[i].valid;
    always @(posedge clk) begin
      if (error[i].valid && error[i].ready && !rst) begin
        expect_record(Kind[i], error[i].data.queue, i % 2 == 1, 0, '0, error[i].data.code);
        `CHECK(error_valid && error_kind == Kind[i] && error_data == error[i].data,
               "another error is shown")
        errors_in++;
      end
      if (run && $urandom_range(5) == 0 && i_error.queue.size() == 0)
        i_error.queue.push_back(
            '{queue: queue_t'($urandom_range((i % 2 == 1 ? RxQueues : TxQueues) - 1)),
            code: error_e'(8'($urandom_range(8, 1)))});
    end
  end

  initial begin
    @(negedge rst);
    run = 1;
    repeat (5000) @(posedge clk);
    run = 0;
    repeat (100) @(posedge clk);
    `CHECK(i_tx_notify.queue.size() == 0 && i_rx_notify.queue.size() == 0 && waiting == 0,
           "something still waits")
    `CHECK(errors_in == errors_shown && errors_in > 500, "errors shown differ from errors taken")
    `CHECK(i_record.taken > 2500, "too few records")
    foreach (expected[k]) `CHECK(expected[k].size() == 0, "a record was lost")
    `TB_PASS
  end
endmodule

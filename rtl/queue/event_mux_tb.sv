// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// event_mux: every notification and error becomes one record with the right fields, for the right event queue.
module event_mux_tb;
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
  event_mux dut (
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
  int unsigned errors_in = 0, errors_shown = 0, moved = 0;
  logic run = 0;

  function automatic void expect_record(event_e kind, queue_t source, queue_t event_queue,
                                        error_e code);
    event_t entry = '0;
    entry.kind   = kind;
    entry.source = source;
    entry.code   = code;
    expected[kind].push_back('{cq: event_queue, record: entry});
  endfunction

  always @(posedge clk) begin
    if (tx_notify.valid && tx_notify.ready && !rst)
      expect_record(EvtTxCpl, tx_notify.data.cq, tx_notify.data.target, ErrNone);
    if (rx_notify.valid && rx_notify.ready && !rst)
      expect_record(EvtRxCpl, rx_notify.data.cq, rx_notify.data.target, ErrNone);
    if (!tx_notify.valid || tx_notify.ready) begin
      tx_notify.valid <= run && $urandom_range(1) == 1;
      tx_notify.data  <= $urandom();
    end
    if (!rx_notify.valid || rx_notify.ready) begin
      rx_notify.valid <= run && $urandom_range(3) == 1;
      rx_notify.data  <= $urandom();
    end
    if (error_valid && !rst) errors_shown++;
    record.ready <= $urandom_range(2) != 0;
    if (record.valid && record.ready && !rst) begin
      event_t entry;
      entry = record.data.record;
      `CHECK(expected[entry.kind].size() != 0 && expected[entry.kind].pop_front() == record.data,
             "wrong record")
      moved++;
    end
  end

  localparam event_e Kind[4] = '{EvtTxError, EvtRxError, EvtTxCqError, EvtRxCqError};
  for (genvar i = 0; i < 4; i++) begin : g_error
    always @(posedge clk) begin
      if (error[i].valid && error[i].ready && !rst) begin
        expect_record(Kind[i], error[i].data.queue, '0, error[i].data.code);
        errors_in++;
      end
      if (!error[i].valid || error[i].ready) begin
        error[i].valid <= run && $urandom_range(5) == 1;
        error[i].data  <= '{queue: queue_t'($urandom()), code: error_e'(8'($urandom_range(8, 1)))};
      end
    end
  end

  initial begin
    @(negedge rst);
    run = 1;
    repeat (5000) @(posedge clk);
    run = 0;
    repeat (100) @(posedge clk);
    `CHECK(errors_in == errors_shown && errors_in > 500, "errors shown differ from errors taken")
    `CHECK(moved > 2500, "too few records")
    foreach (expected[k]) `CHECK(expected[k].size() == 0, "a record was lost")
    `TB_PASS
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// What every proof shares: one clock of reset, then never again; the law of a stream.
`ifndef EMERY_FORMAL_SVH
`define EMERY_FORMAL_SVH

/// Reset in the first clock only. `started_q` is low in that clock: no assertion holds before it.
`define FORMAL_BEGIN \
  logic started_q = 1'b0; \
  always_ff @(posedge clk_i) started_q <= 1'b1; \
  always_comb assume (rst_i == !started_q);

/// Stream `s` of type `t` keeps its beat until that is taken: guaranteed by the driver (`kind` assert) or relied upon (assume).
`define FORMAL_STREAM(kind, s, t) \
  if (1) begin : law_of_``s \
    logic waiting_q; \
    t data_q; \
    always_ff @(posedge clk_i) begin \
      waiting_q <= started_q && s.valid && !s.ready; \
      data_q <= s.data; \
    end \
    always_comb if (started_q && waiting_q) kept : kind (s.valid && s.data == data_q); \
  end

`endif

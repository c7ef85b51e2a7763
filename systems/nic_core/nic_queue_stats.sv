// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Counters of the queues of an interface: what all its ports tell of them.
///
/// Wiring only: ports take turns, one count a clock each way.
module nic_queue_stats
  import queue_pkg::*;
#(
    parameter int Ports = 1,
    parameter int TxQueues = 256,
    parameter int RxQueues = 256
) (
    input logic clk_i,
    input logic rst_i,

    // Registers: stat_regs of host_nic.rdl.
    reg_if.slave tx_regs,
    reg_if.slave rx_regs,

    // queue_count_t of each port.
    stream_if.snk tx_count[Ports],
    stream_if.snk rx_count[Ports],

    // For one clock each: a receive, a transmit queue selected that there is not.
    output logic [1:0] refused_o
);
  `STREAM(queue_count_t, tx)
  `STREAM(queue_count_t, rx)
  arb_rr #(
      .T(queue_count_t),
      .N(Ports)
  ) i_tx (
      .clk_i,
      .rst_i,
      .in(tx_count),
      .out(tx),
      .index_o()
  );
  arb_rr #(
      .T(queue_count_t),
      .N(Ports)
  ) i_rx (
      .clk_i,
      .rst_i,
      .in(rx_count),
      .out(rx),
      .index_o()
  );
  // What is not sent is an error: there are no drops.
  stat_ram #(
      .Rows(TxQueues),
      .Counters(3)
  ) i_tx_stat (
      .clk_i,
      .rst_i,
      .count(tx),
      .regs(tx_regs),
      .refused_o(refused_o[0])
  );
  stat_ram #(
      .Rows(RxQueues),
      .Counters(4)
  ) i_rx_stat (
      .clk_i,
      .rst_i,
      .count(rx),
      .regs(rx_regs),
      .refused_o(refused_o[1])
  );
endmodule

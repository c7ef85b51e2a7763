// SPDX-License-Identifier: Apache-2.0
/// event_mux_tb with functions, each of which has its share of the queues.
module event_mux_functions_tb;
  event_mux_tb #(
      .Functions(2),
      .TxQueues(64),
      .RxQueues(256),
      .EventQueues(32)
  ) i_tb ();
endmodule

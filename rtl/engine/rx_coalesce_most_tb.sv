// SPDX-License-Identifier: Apache-2.0
/// rx_coalesce_tb with as many functions as there can be, each with a place of its own.
module rx_coalesce_most_tb;
  rx_coalesce_tb #(
      .Functions(64),
      .Queues(256)
  ) i_tb ();
endmodule

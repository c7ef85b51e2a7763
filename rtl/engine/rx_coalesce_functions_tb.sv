// SPDX-License-Identifier: Apache-2.0
/// rx_coalesce_tb with functions, which have four places each.
module rx_coalesce_functions_tb;
  rx_coalesce_tb #(
      .Functions(8),
      .Queues(256)
  ) i_tb ();
endmodule

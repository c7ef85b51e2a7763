// SPDX-License-Identifier: Apache-2.0
/// desc_queues_tb with a driver that pushes.
module desc_queues_push_tb;
  desc_queues_tb #(.Push(1'b1)) i_tb ();
endmodule

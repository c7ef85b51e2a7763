// SPDX-License-Identifier: Apache-2.0
/// desc_queues_shared_tb with queues that the device empties, and places for the descriptors of each port.
module desc_queues_turns_tb;
  desc_queues_shared_tb #(.Filled(1'b0)) i_tb ();
endmodule

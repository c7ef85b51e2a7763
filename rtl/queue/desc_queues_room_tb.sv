// SPDX-License-Identifier: Apache-2.0
/// desc_queues_tb with places for the descriptors of each port.
module desc_queues_room_tb;
  desc_queues_tb #(.Room(24)) i_tb ();
endmodule

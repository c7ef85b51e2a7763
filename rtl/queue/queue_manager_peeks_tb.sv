// SPDX-License-Identifier: Apache-2.0
/// queue_manager_tb with dequeues that only look.
module queue_manager_peeks_tb;
  queue_manager_tb #(.Peeks(1'b1)) i_tb ();
endmodule

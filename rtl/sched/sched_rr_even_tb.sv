// SPDX-License-Identifier: Apache-2.0
// suite: once
/// sched_rr_tb with as many queues as an index can name.
module sched_rr_even_tb;
  sched_rr_tb #(.Queues(32)) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
/// usplus_cq_tb with one function.
module usplus_cq_one_tb;
  usplus_cq_tb #(.Functions(1)) i_tb ();
endmodule

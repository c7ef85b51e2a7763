// SPDX-License-Identifier: Apache-2.0
/// desc_fetch_tb with doorbells that have a ring's first descriptors read.
module desc_fetch_peeks_tb;
  desc_fetch_tb #(.Peeks(1'b1)) i_tb ();
endmodule

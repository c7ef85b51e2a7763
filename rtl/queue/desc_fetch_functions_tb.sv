// SPDX-License-Identifier: Apache-2.0
/// desc_fetch_tb with queues of several functions.
module desc_fetch_functions_tb;
  desc_fetch_tb #(.Functions(8)) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
/// rx_parse_functions_tb without virtual functions.
module rx_parse_follow_tb;
  rx_parse_functions_tb #(.Functions(1)) i_tb ();
endmodule

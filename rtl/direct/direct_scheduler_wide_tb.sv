// SPDX-License-Identifier: Apache-2.0
// suite: once
/// direct_scheduler_tb with more classes, padded messages and two lanes.
module direct_scheduler_wide_tb;
  direct_scheduler_tb #(
      .Cards(5),
      .Classes(3),
      .MessageWords(2),
      .FifoBytes(6000),
      .Lanes(2)
  ) i_tb ();
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
/// core_wake: only a core that sleeps is woken, one at a time, and only for something that came after the last wake-up; and what
/// came is never lost: while it is owed and a core sleeps, one is woken when the gap is over, and not before.
module core_wake_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic       come_i,
    input logic [2:0] gap_i,
    input logic [2:0] sleeping_i
);
  `FORMAL_BEGIN
  localparam int Cores = 3;
  logic [Cores-1:0] wake, wake_q, asleep_q;
  core_wake #(
      .Cores(Cores)
  ) dut (
      .clk_i,
      .rst_i,
      .come_i,
      .gap_i (16'(gap_i)),
      .sleeping_i,
      .wake_o(wake)
  );

  // What is owed, and how long some core has slept meanwhile.
  logic owed_q, woken_q;
  logic [3:0] waited_q;
  logic [2:0] gap_q;  // what is left of the last one
  wire someone = (sleeping_i & ~wake) != '0;
  always_ff @(posedge clk_i) begin
    asleep_q <= sleeping_i & ~wake;
    wake_q   <= wake;
    // A wake-up that shows in this clock was decided in the one before: what comes in either of them is owed still.
    if (come_i) owed_q <= 1'b1;
    else if (dut.wakes) owed_q <= 1'b0;
    woken_q <= owed_q;
    gap_q <= dut.wakes ? gap_i : gap_q == '0 ? '0 : gap_q - 1'b1;
    waited_q <= !someone || dut.wakes || !owed_q ? '0 : waited_q + 1'b1;
    if (rst_i) begin
      owed_q   <= 1'b0;
      woken_q  <= 1'b0;
      waited_q <= '0;
      gap_q    <= '0;
    end
  end

  always_comb begin
    if (started_q) begin
      kept : assert (owed_q == dut.come_q);
      not_before : assert (!dut.wakes || gap_q == '0);
      short : assert (dut.left_q == 16'(gap_q));
      one : assert ((wake & (wake - 1'b1)) == '0);
      a_sleeper : assert ((wake & ~asleep_q) == '0);
      for_something : assert (wake == '0 || woken_q);
      // At most the longest gap, counted from when a core slept.
      in_time : assert (waited_q <= 4'd8);
      waits_out : assert (!(owed_q && waited_q != 0) || 5'(waited_q) + 5'(dut.left_q) <= 5'd8);
      seen : cover (wake[2] && wake_q[1]);
    end
  end
endmodule

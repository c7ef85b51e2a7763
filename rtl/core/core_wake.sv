// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Wakes cores that wait for work: for what has come, one core, so that the others go on sleeping.
///
/// `come_i`: there may be work. What has come and was not yet given to a core is one flag: as soon as it is up, a core sleeps,
/// and `gap_i` clocks or more have gone by since the last wake-up, so that work gathers when there is much, it goes down and
/// the sleeping core of the lowest number is woken (`wake_o`, one clock, the clock after).
/// Nothing is lost between a core's last look for work and its sleep: what comes in or after the clock in which a core is
/// woken is not of that wake-up, so it either is there when that core looks, or puts the flag up again. A core that
/// has made work for others must say so (`come_i`), for they may have looked before. A core that stops running while it
/// is woken takes what came with it. Reset forgets what has come.
module core_wake #(
    parameter int Cores = 6
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             come_i,
    input  logic [     15:0] gap_i,
    input  logic [Cores-1:0] sleeping_i,  // core; one that is being woken still sleeps
    output logic [Cores-1:0] wake_o
);
  logic come_q;
  logic [15:0] left_q;
  wire [Cores-1:0] asleep = sleeping_i & ~wake_o;
  wire wakes = come_q && left_q == '0 && asleep != '0;

  always_ff @(posedge clk_i) begin
    wake_o <= wakes ? asleep & (~asleep + 1'b1) : '0;
    if (wakes) left_q <= gap_i;
    else if (left_q != '0) left_q <= left_q - 1'b1;
    if (come_i) come_q <= 1'b1;
    else if (wakes) come_q <= 1'b0;
    if (rst_i) begin
      come_q <= 1'b0;
      left_q <= '0;
      wake_o <= '0;
    end
  end

  `ASSERT(OneAtATime, $onehot0(wake_o))
endmodule

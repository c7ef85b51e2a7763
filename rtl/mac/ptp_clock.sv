// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The time of day that a servo can discipline (IEEE 1588; host-nic paper, PTP clock).
///
/// Counts `Period + adjust_i` (ns * 2^-32) in each clock; `time_o` is the whole part and belongs to the clock edge that put
/// it there. `adjust_i` is a level, for the frequency: one unit is 0.058 ppb at 4 ns, the range is an eighth of 4 ns.
/// `step_i` moves the time by so many ns, once for each clock of `step_valid_i`: for the phase, up to 2 s. Both are seen in
/// the second clock after. `set_i` is in `time_o` one clock later, its fraction 0; it cancels a step of the clock before.
/// `fraction_o` is what `time_o` leaves out, of the same edge, in ns * 2^-32.
/// A step together with a set comes on top of it. Moves backwards only by a step or a set. Starts from 0 at reset.
/// Takes everything in each clock, without back-pressure; inputs left open leave the clock free running.
module ptp_clock
  import eth_pkg::*;
#(
    parameter logic [35:0] Period = 36'h4_0000_0000  // ns * 2^-32, from 1 ns to 15 ns
) (
    input logic clk_i,
    input logic rst_i,

    // Servo.
    input logic signed [31:0] adjust_i = '0,      // ns * 2^-32 added in each clock
    input logic               step_valid_i = '0,
    input logic signed [31:0] step_i = '0,        // ns
    input logic               set_valid_i = '0,
    input ptp_time_t          set_i = '0,

    output ptp_time_t        time_o,
    output logic      [31:0] fraction_o
);
  localparam int FracW = 32;
  typedef logic [TimeW+FracW-1:0] fine_t;

  if (Period[35:32] == 0 || Period[35:32] == 15) begin : g_bad_parameter
    $fatal(1, "ptp_clock: Period of %0d ns is not from 1 to 15 ns", Period[35:32]);
  end

  fine_t time_q;
  fine_t increment_q;  // of the next clock, so that the long addition has two operands only
  assign {time_o, fraction_o} = time_q;

  wire fine_t rate = fine_t'(Period) + fine_t'(adjust_i);
  wire fine_t jump = {TimeW'(step_i), FracW'(0)};

  always_ff @(posedge clk_i) begin
    increment_q <= step_valid_i ? rate + jump : rate;
    time_q <= set_valid_i ? {set_i, FracW'(0)} : time_q + increment_q;
    if (rst_i) begin
      increment_q <= fine_t'(Period);
      time_q <= '0;
    end
  end

  // Stepped or set the time may go anywhere, else forwards by a period.
  logic moved_q, step_q;
  ptp_time_t last_q;
  always_ff @(posedge clk_i) begin
    moved_q <= step_q || set_valid_i || rst_i;
    step_q  <= step_valid_i;
    last_q  <= time_o;
  end
  `ASSERT(Forward, moved_q || TimeW'(time_o - last_q) <= TimeW'(16))
endmodule

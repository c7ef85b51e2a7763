// SPDX-License-Identifier: Apache-2.0
/// PTP hardware clock (host-nic paper, sections II-A and IV-B): nanoseconds with a 32-bit fraction, settable in time and rate.
///
/// Each clock adds `period_i` (8 bits of ns, 32 of fraction: the driver tunes the rate in steps of 2^-32 ns a clock, which
/// is 0.06 parts per billion at 250 MHz). `set_i` loads `set_time_i`; `step_i` adds the signed `step_ns_i` once, on top of
/// the running time. Whoever samples `time_o` in a clock edge gets the time of that edge; a set or step given with that
/// edge shows from the next one on. Reset sets the time to zero.
module ptp_clock
  import eth_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    // From the registers: pulses of one clock, `period_i` always.
    input logic        [39:0] period_i,
    input logic               set_i,
    input ptp_time_t          set_time_i,
    input logic               step_i,
    input logic signed [31:0] step_ns_i,

    output ptp_time_t   time_o,
    output logic [31:0] fraction_o
);
  localparam int FractionW = 32;
  typedef logic [TimeW+FractionW-1:0] exact_t;

  exact_t now_q, now_d;

  always_comb begin
    now_d = now_q + exact_t'(period_i);
    if (step_i) now_d += {TimeW'(step_ns_i), FractionW'(0)};
    // A set counts from this edge on, so one period has gone by at the next.
    if (set_i) now_d = {set_time_i, FractionW'(0)} + exact_t'(period_i);
  end

  assign {time_o, fraction_o} = now_q;

  always_ff @(posedge clk_i) begin
    now_q <= now_d;
    if (rst_i) now_q <= '0;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Carries the PTP time into the clock domain of a MAC (host-nic paper, PTP clock).
///
/// The MAC side counts on with its own estimate of its clock's period. Once a round of 32 MAC clocks it has the core side
/// take a sample of `time_i`, and compares. The age of a sample is known to one core clock, less its mean: this jitter is
/// the error that remains. Errors below 32 ns are slewed away, half of each in a round, while the period follows; larger
/// ones mean a step of the source and are jumped over at once. `time_o` never goes backwards unless the source does.
/// For core and MAC clocks of 100 to 400 MHz each at any ratio: no constant depends on them, nor on the source's rate.
/// Measured against the exact time: within 5 ns with a core clock from 250 MHz (3 ns with a MAC clock of 322 MHz), 8 ns
/// with one of 100 MHz. A step is followed to 10 ns in 0.5 us with a MAC clock from 250 MHz, 1.5 us with one of 100 MHz.
/// `time_o` belongs to the clock edge that put it there; right 5 us after the reset of the MAC's side,
/// the only one: the core's leaves what crosses alone.
module ptp_cdc
  import eth_pkg::*;
(
    // Core clock domain.
    input logic      clk_i,
    input ptp_time_t time_i,

    // MAC clock domain.
    input  logic      mac_clk_i,
    input  logic      mac_rst_i,
    output ptp_time_t time_o
);
  localparam int FracW = 16;
  localparam int RateW = 4 + FracW;  // a period below 16 ns
  localparam int RoundW = 5;  // a round has 2^RoundW clocks
  localparam int ErrW = TimeW + 1;  // with half nanoseconds
  typedef logic [TimeW+FracW-1:0] fine_t;
  typedef logic [RoundW-1:0] phase_t;

  // What is done in which clock of a round. The answer to a request takes three core clocks and three of the MAC, which
  // is 15 MAC clocks in the worst case; one that comes later than Compare is not used.
  localparam phase_t Ask = 0;  // request_q changes
  localparam phase_t Note = 1;  // own time of that edge
  localparam phase_t Compare = 16;  // sample less own time
  localparam phase_t Age = 17;  // less the age of the sample
  localparam phase_t Correct = 18;

  // Slower than any MAC clock can be fast: until the period is known the time lags, and is only ever jumped forwards.
  localparam logic [RateW-1:0] FirstRate = RateW'(2 << FracW);

  // Core side: `answer_q` follows the request, and with it comes the sample. Neither side's reset touches the two: whatever they are,
  // the answer comes to be as the request, and the next request waits for that.
  logic request_q = 1'b0, answer_q = 1'b0;
  logic request_at_core, answer_at_mac;
  logic [3:0] before_q;  // time of the clock before, low bits
  ptp_time_t sample_q;
  logic [3:0] core_period_q;

  sync_2ff i_request (
      .clk_i,
      .d_i(request_q),
      .q_o(request_at_core)
  );
  sync_2ff i_answer (
      .clk_i(mac_clk_i),
      .d_i  (answer_q),
      .q_o  (answer_at_mac)
  );

  always_ff @(posedge clk_i) begin
    before_q <= time_i[3:0];
    if (request_at_core != answer_q) begin
      sample_q <= time_i;
      core_period_q <= time_i[3:0] - before_q;
    end
    answer_q <= request_at_core;
  end

  // MAC side.
  phase_t phase_q;
  logic asked_q;  // a request of this round is out, or its sample is being used
  logic signed [ErrW-1:0] error_q;  // of the time at the request; from Note to Compare that time itself
  logic [1:0] jumps_q;  // jumps in successive rounds
  logic [2:0] quiet_q;  // rounds with a small error since the rate was wrong; all ones: settled
  logic [RateW-1:0] rate_q;  // estimate of the period
  fine_t increment_q;  // of the next clock
  fine_t time_q;
  assign time_o = time_q[FracW+:TimeW];

  wire answered = answer_at_mac == request_q;
  wire compare = asked_q && answered && phase_q == Compare;
  wire correct = asked_q && phase_q == Correct;
  wire jump = !(&error_q[ErrW-1:6] || ~|error_q[ErrW-1:6]);
  // Many jumps in a row: not the time was off but the rate, which made all of the error since the last round.
  wire rate_wrong = jump && jumps_q == 2'd3;

  // Half of a small error, in 16 clocks: at most 1 ns a clock, so that the time still moves forwards.
  wire fine_t slew = fine_t'($signed({error_q[6:0], 10'd0}));
  wire fine_t correction = jump ? {error_q, (FracW - 1)'(0)} : slew;

  // The gain of the rate, 1/16 for 32 clocks, goes with the half above for an even settling without ringing. Once settled
  // an error counts 2 ns at most: a small step of the source is slewed too, and must not be taken for a change of the rate.
  localparam logic signed [6:0] Most = 7'sd4;
  localparam logic signed [6:0] Quiet = 7'sd24;  // above what the jitter makes
  wire signed [6:0] offset = error_q[6:0];
  wire signed [6:0] limited = offset > Most ? Most : offset < -Most ? -Most : offset;
  wire settled = &quiet_q;
  wire quiet = !jump && offset < Quiet && offset > -Quiet;
  wire signed [6:0] drift = settled ? limited : offset;
  wire [RateW-1:0] rate_correction = RateW'($signed({drift, 6'd0}));

  always_ff @(posedge mac_clk_i) begin
    phase_q <= phase_q + 1'b1;
    time_q  <= time_q + increment_q;

    unique case (phase_q)
      Ask: begin
        asked_q <= answered;
        if (answered) request_q <= !request_q;
      end
      Note: error_q <= time_q[TimeW+FracW-1:FracW-1];
      Compare: begin
        asked_q <= asked_q && answered;
        // A half ns for what `time_i` leaves out.
        if (compare) error_q <= {sample_q, 1'b1} - error_q;
      end
      // The synchronizer adds a period, and between none and one until it sees the request: 1.5 in the mean.
      Age: error_q <= error_q - ErrW'(3 * core_period_q);
      default: ;
    endcase

    if (correct) begin
      increment_q <= fine_t'(rate_q) + correction;
      jumps_q <= (jump && !rate_wrong) ? jumps_q + 1'b1 : '0;
      if (rate_wrong) rate_q <= rate_q + {error_q[9:0], 10'd0};
      else if (!jump) rate_q <= rate_q + rate_correction;
      if (rate_wrong) quiet_q <= '0;
      else if (!settled) quiet_q <= quiet ? quiet_q + 1'b1 : '0;
    end else if (phase_q == Note || (phase_q == Correct + 1'b1 && jump)) begin
      increment_q <= fine_t'(rate_q);
    end

    if (mac_rst_i) begin
      phase_q <= '0;
      asked_q <= 1'b0;
      jumps_q <= '0;
      quiet_q <= '0;
      rate_q <= FirstRate;
      increment_q <= fine_t'(FirstRate);
      time_q <= '0;
    end
  end

  `ASSERT(SampleIsStill, compare |-> $stable(sample_q), mac_clk_i, mac_rst_i)
endmodule

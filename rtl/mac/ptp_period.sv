// SPDX-License-Identifier: Apache-2.0
/// A square wave in the time of day: what a servo has made of the clock can be seen at a pin (host-nic paper, section III).
///
/// While `run_i` is high: `level_o` rises two clocks after `time_i` has come to `start_i` and changes every `half_i` ns from there on,
/// always two clocks after the clock edge at which that time had come: an edge is late by these and by up to a clock. `start_i` is
/// taken with the rise of `run_i`. Edges that lie in the past are caught up with, one every other clock; `half_i` is to be longer than that.
/// When the time is set back, the next edge waits for it. Low while `run_i` is.
module ptp_period
  import eth_pkg::*;
(
    input  logic             clk_i,
    input  logic             rst_i,
    input  ptp_time_t        time_i,
    input  logic             run_i,
    input  ptp_time_t        start_i,
    input  logic      [31:0] half_i,   // ns
    output logic             level_o
);
  ptp_time_t next_q;  // edge
  logic aimed_q, due_q;
  logic [TimeW-1:0] past;
  assign past = time_i - next_q;

  always_ff @(posedge clk_i) begin
    aimed_q <= run_i;
    due_q   <= aimed_q && !due_q && !past[TimeW-1];
    if (!aimed_q) next_q <= start_i;
    else if (due_q) next_q <= next_q + TimeW'(half_i);
    level_o <= run_i && (level_o ^ due_q);
    if (rst_i || !run_i) begin
      aimed_q <= 1'b0;
      due_q   <= 1'b0;
    end
    if (rst_i) level_o <= 1'b0;
  end
endmodule

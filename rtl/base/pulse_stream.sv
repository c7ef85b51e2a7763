// SPDX-License-Identifier: Apache-2.0
/// A beat of a stream for what happened: offered from the clock after `pulse_i` until it is taken.
///
/// Pulses that come before it is taken are one beat; one in the clock in which it is taken is the next. The beat holds no data
/// (0). Reset forgets what happened.
module pulse_stream (
    input logic clk_i,
    input logic rst_i,
    input logic pulse_i,
    stream_if.src out
);
  logic due_q;
  assign out.valid = due_q;
  assign out.data  = '0;
  always_ff @(posedge clk_i) begin
    if (pulse_i) due_q <= 1'b1;
    else if (out.ready) due_q <= 1'b0;
    if (rst_i) due_q <= 1'b0;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Spaces the turns of transmit streams while received frames pile up (`pressed_i`).
///
/// A turn costs a read request and a record whatever is in it, and those take the link from what is received. Held back, a queue gathers
/// frames meanwhile, and its turn has more of them for the same cost: nothing that is sent is lost by it, and no rate where rings have
/// room. While bit 0 of `pressed_i` is high, one request in `Gap` clocks passes if the last answer was a turn (`answer_i` with
/// `turn_i`), while bit 1 is, one in four times as many; all requests pass at once otherwise, and where queues have descriptors.
/// Latency 0, a request a clock; what was shown stays. Reset opens it.
module turn_pace #(
    parameter type T   = logic,
    parameter int  Gap = 32
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] pressed_i,

    // Answers to the requests that have passed.
    input logic answer_i,
    input logic turn_i,

    stream_if.snk in,  // T
    stream_if.src out  // T
);
  localparam int SinceW = $clog2(4 * Gap);
  logic [SinceW-1:0] since_q;  // clocks since the last one passed, as far as it matters
  logic [1:0] pressed_q;
  logic turn_q, shown_q;
  wire late = pressed_q[1] ? since_q == SinceW'(4 * Gap - 1) : since_q >= SinceW'(Gap - 1);
  wire hold = |pressed_q && turn_q && !late && !shown_q;
  wire pass = out.valid && out.ready;

  assign out.valid = in.valid && !hold;
  assign out.data  = in.data;
  assign in.ready  = out.ready && !hold;

  always_ff @(posedge clk_i) begin
    pressed_q <= pressed_i;
    shown_q   <= out.valid && !out.ready;
    if (pass) since_q <= '0;
    else if (since_q != SinceW'(4 * Gap - 1)) since_q <= since_q + 1'b1;
    if (answer_i) turn_q <= turn_i;
    if (rst_i) {shown_q, turn_q} <= '0;
  end

  `ASSERT(ShownStays, shown_q |-> out.valid || !in.valid)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Function-level reset (PCIe Base Specification 6.6.2): the host resets the device, and the link to it stays up.
///
/// From `flr_i`, high until the hard block was told by `done_o`, no TLP begins (`closed_o`); when none is under way any more (`busy_i`: its
/// sender stops for nothing but the link) the device is in reset for `Clocks` clocks, and `Settle` clocks later `done_o` is
/// high for one. `rst_o` is the device's reset, `rst_i` that of the link and with it the device's. After `rst_i` no function is being reset.
module function_reset #(
    parameter int Clocks = 64,
    parameter int Settle = 32
) (
    input  logic clk_i,
    input  logic rst_i,
    input  logic flr_i,
    output logic done_o,
    output logic closed_o,
    input  logic busy_i,
    output logic rst_o
);
  typedef enum logic [2:0] {
    Runs,
    Closes,
    Resets,
    Settles,
    Ends
  } state_e;
  state_e state_q, state_d;
  localparam int CountW = $clog2((Clocks > Settle ? Clocks : Settle) + 1);
  logic [CountW-1:0] count_q;
  logic resets_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Runs: if (flr_i) state_d = Closes;
      Closes: if (!busy_i) state_d = Resets;
      Resets: if (count_q == CountW'(Clocks - 1)) state_d = Settles;
      Settles: if (count_q == CountW'(Settle - 1)) state_d = Ends;
      default: if (!flr_i) state_d = Runs;
    endcase
    if (rst_i) state_d = Runs;
  end

  always_ff @(posedge clk_i) begin
    state_q  <= state_d;
    count_q  <= state_d != state_q ? '0 : count_q + 1'b1;
    resets_q <= state_d == Resets;
    closed_o <= state_d inside {Closes, Resets};
    done_o   <= state_q == Settles && state_d == Ends;
  end
  assign rst_o = rst_i || resets_q;

  `ASSERT(NothingIsCut, resets_q && !$past(resets_q) && !rst_i |-> !$past(busy_i))
endmodule

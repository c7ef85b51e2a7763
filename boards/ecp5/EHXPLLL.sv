// SPDX-License-Identifier: Apache-2.0
/// Lattice's PLL, as far as boards/ uses it: CLKOP is the input's clock, CLKOS slower by the ratio of their dividers, which is even; it
/// has locked after 16 clocks.
module EHXPLLL #(
    parameter FEEDBK_PATH = "",
    parameter int CLKI_DIV = 1,
    parameter int CLKFB_DIV = 1,
    parameter CLKOP_ENABLE = "",
    parameter int CLKOP_DIV = 1,
    parameter int CLKOP_CPHASE = 0,
    parameter int CLKOP_FPHASE = 0,
    parameter CLKOS_ENABLE = "",
    parameter int CLKOS_DIV = 1,
    parameter int CLKOS_CPHASE = 0,
    parameter int CLKOS_FPHASE = 0
) (
    input  logic CLKI,
    input  logic CLKFB,
    input  logic RST,
    input  logic STDBY,
    input  logic PHASESEL0,
    input  logic PHASESEL1,
    input  logic PHASEDIR,
    input  logic PHASESTEP,
    input  logic PHASELOADREG,
    input  logic PLLWAKESYNC,
    input  logic ENCLKOP,
    input  logic ENCLKOS,
    output logic CLKOP,
    output logic CLKOS,
    output logic LOCK
);
  logic [4:0] age_q = '0;
  int count_q = 0;
  logic slow_q = 1'b0;
  wire last = count_q == CLKOS_DIV / CLKOP_DIV / 2 - 1;
  assign CLKOP = CLKI;
  assign CLKOS = slow_q;
  assign LOCK  = age_q[4];
  always_ff @(posedge CLKI) begin
    if (!LOCK) age_q <= age_q + 1'b1;
    count_q <= last ? 0 : count_q + 1;
    if (last) slow_q <= !slow_q;
  end
  wire unused = &{1'b0, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP, ENCLKOS};
endmodule

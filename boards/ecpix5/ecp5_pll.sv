// SPDX-License-Identifier: Apache-2.0
/// The core clock out of the ECPIX-5's 100 MHz, by the ECP5's PLL (EHXPLLL): its oscillator runs at 100 MHz * `Outer`, which has to be
/// 400 ... 800 MHz, and the core clock is that over `Outer` * 2. `rst_o` is high until it has locked.
module ecp5_pll #(
    parameter int Outer = 6
) (
    input  logic clk_i,
    output logic clk_o,
    output logic rst_o
);
  logic fed_back, locked;
  assign rst_o = !locked;
  (* FREQUENCY_PIN_CLKI = "100", FREQUENCY_PIN_CLKOP = "100", FREQUENCY_PIN_CLKOS = "50" *)
  EHXPLLL #(
      .FEEDBK_PATH("CLKOP"),
      .CLKI_DIV(1),
      .CLKFB_DIV(1),
      .CLKOP_ENABLE("ENABLED"),
      .CLKOP_DIV(Outer),
      .CLKOP_CPHASE(Outer - 1),
      .CLKOP_FPHASE(0),
      .CLKOS_ENABLE("ENABLED"),
      .CLKOS_DIV(2 * Outer),
      .CLKOS_CPHASE(2 * Outer - 1),
      .CLKOS_FPHASE(0)
  ) i_pll (
      .CLKI(clk_i),
      .CLKFB(fed_back),
      .RST(1'b0),
      .STDBY(1'b0),
      .PHASESEL0(1'b0),
      .PHASESEL1(1'b0),
      .PHASEDIR(1'b1),
      .PHASESTEP(1'b1),
      .PHASELOADREG(1'b1),
      .PLLWAKESYNC(1'b0),
      .ENCLKOP(1'b0),
      .ENCLKOS(1'b0),
      .CLKOP(fed_back),
      .CLKOS(clk_o),
      .LOCK(locked)
  );
endmodule

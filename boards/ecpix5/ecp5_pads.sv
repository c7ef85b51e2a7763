// SPDX-License-Identifier: Apache-2.0
/// RGMII's pins of an ECP5: a register for each edge (IDDRX1F, ODDRX1F), and the delay of the transmit clock (DELAYG).
///
/// The receive clock's pin clocks everything, transmit too. The PHY delays the receive clock itself (KSZ9031: 1.2 ns from reset on, to
/// which the way to the clock network adds); the transmit clock is delayed here, by `TxDelay` steps of 25 ps.
module ecp5_pads #(
    parameter int TxDelay = 80
) (
    input logic clk_i,
    input logic rst_i,

    // Pins.
    input  logic       rx_ctl_i,
    input  logic [3:0] rx_data_i,
    output logic       tx_clk_o,
    output logic       tx_ctl_o,
    output logic [3:0] tx_data_o,

    // By edge: [0] rising, [1] falling.
    output logic [1:0]      rx_ctl_o,
    output logic [1:0][3:0] rx_data_o,
    input  logic [1:0]      tx_ctl_i,
    input  logic [1:0][3:0] tx_data_i
);
  wire [4:0] rx_pin = {rx_ctl_i, rx_data_i};
  logic [4:0] tx_pin, rx_rise, rx_fall;
  wire [4:0] tx_rise = {tx_ctl_i[0], tx_data_i[0]};
  wire [4:0] tx_fall = {tx_ctl_i[1], tx_data_i[1]};
  logic tx_clk;
  assign rx_ctl_o = {rx_fall[4], rx_rise[4]};
  assign rx_data_o = {rx_fall[3:0], rx_rise[3:0]};
  assign {tx_ctl_o, tx_data_o} = tx_pin;
  for (genvar i = 0; i < 5; i++) begin : g_pin
    IDDRX1F i_rx (
        .D(rx_pin[i]),
        .SCLK(clk_i),
        .RST(rst_i),
        .Q0(rx_rise[i]),
        .Q1(rx_fall[i])
    );
    ODDRX1F i_tx (
        .D0(tx_rise[i]),
        .D1(tx_fall[i]),
        .SCLK(clk_i),
        .RST(rst_i),
        .Q(tx_pin[i])
    );
  end
  ODDRX1F i_tx_clk (
      .D0(1'b1),
      .D1(1'b0),
      .SCLK(clk_i),
      .RST(rst_i),
      .Q(tx_clk)
  );
  DELAYG #(
      .DEL_MODE ("USER_DEFINED"),
      .DEL_VALUE(TxDelay)
  ) i_tx_delay (
      .A(tx_clk),
      .Z(tx_clk_o)
  );
endmodule

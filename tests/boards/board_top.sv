// SPDX-License-Identifier: Apache-2.0
/// The board's top, from pin to pin (models of the vendor's cells), with what cocotb sees and drives by name.
module top #(
    parameter string Image = "",
    parameter int ImageWords = 1
) (
    input  logic       clk100  /*verilator public_flat_rw*/,
    output logic       running  /*verilator public_flat_rw*/,
    output logic       trapped  /*verilator public_flat_rw*/,
    output logic       phy_rst_n  /*verilator public_flat_rw*/,
    input  logic       sink_clk  /*verilator public_flat_rw*/,
    input  logic       rgmii_rx_clk  /*verilator public_flat_rw*/,
    input  logic       rgmii_rx_ctl  /*verilator public_flat_rw*/,
    input  logic [3:0] rgmii_rx_data  /*verilator public_flat_rw*/,
    output logic       rgmii_tx_clk  /*verilator public_flat_rw*/,
    output logic       rgmii_tx_ctl  /*verilator public_flat_rw*/,
    output logic [3:0] rgmii_tx_data                                 /*verilator public_flat_rw*/
);
  logic red_n, green_n;
  assign running = !green_n;
  assign trapped = !red_n;
  ecpix5 #(
      .Image(Image),
      .ImageWords(ImageWords),
      .PhyResetLog(4)
  ) dut (
      .clk100_i(clk100),
      .led_red_no(red_n),
      .led_green_no(green_n),
      .phy_rst_no(phy_rst_n),
      .rgmii_rx_clk_i(rgmii_rx_clk),
      .rgmii_rx_ctl_i(rgmii_rx_ctl),
      .rgmii_rx_data_i(rgmii_rx_data),
      .rgmii_tx_clk_o(rgmii_tx_clk),
      .rgmii_tx_ctl_o(rgmii_tx_ctl),
      .rgmii_tx_data_o(rgmii_tx_data)
  );
endmodule

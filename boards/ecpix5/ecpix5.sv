// SPDX-License-Identifier: Apache-2.0
/// LambdaConcept ECPIX-5 (LFE5UM5G-85F, KSZ9031 at RGMII): core-nic's cores answer the network by themselves.
///
/// Wiring only. Pins by name in ecpix5.lpf. The core clock is half the board's 100 MHz, the MAC's clock is what the PHY sends with its
/// data: without it (no PHY, or one in reset) everything stays in reset. LED 0: green while the cores run, red when one has trapped.
module ecpix5 #(
    parameter string Image = "",
    parameter int ImageWords = 1,
    parameter logic [47:0] Mac = 48'h02_00_00_00_00_01,
    parameter logic [31:0] Ip = 32'hc0a80132,
    parameter int PhyResetLog = 20  // clocks of the core that the PHY is in reset: 21 ms
) (
    input  logic clk100_i,
    output logic led_red_no,
    output logic led_green_no,
    output logic phy_rst_no,

    input  logic       rgmii_rx_clk_i,
    input  logic       rgmii_rx_ctl_i,
    input  logic [3:0] rgmii_rx_data_i,
    output logic       rgmii_tx_clk_o,
    output logic       rgmii_tx_ctl_o,
    output logic [3:0] rgmii_tx_data_o
);
  (* keep *) logic core_clk;  // so called in reports
  logic core_rst, mac_rst, pll_rst, start_rst, running, trapped, tx_ready;
  logic [1:0] rx_ctl, tx_ctl;
  logic [1:0][3:0] rx_data, tx_data;
  logic rx_valid, tx_valid;
  eth_pkg::byte_beat_t rx, tx;
  wire mac_clk = rgmii_rx_clk_i;
  assign led_red_no   = !trapped;
  assign led_green_no = !running;
  ecp5_pll i_pll (
      .clk_i(clk100_i),
      .clk_o(core_clk),
      .rst_o(pll_rst)
  );
  reset_sync i_start (
      .clk_i(core_clk),
      .rst_i(pll_rst),
      .rst_o(start_rst)
  );
  phy_reset #(
      .Log(PhyResetLog)
  ) i_phy_reset (
      .clk_i (core_clk),
      .rst_i (start_rst),
      .rst_no(phy_rst_no)
  );
  reset_sequencer #(
      .Stages(8)
  ) i_resets (
      .clk_i({mac_clk, core_clk}),
      .rst_i({1'b0, pll_rst}),
      .rst_o({mac_rst, core_rst})
  );
  ecp5_pads i_pads (
      .clk_i(mac_clk),
      .rst_i(mac_rst),
      .rx_ctl_i(rgmii_rx_ctl_i),
      .rx_data_i(rgmii_rx_data_i),
      .tx_clk_o(rgmii_tx_clk_o),
      .tx_ctl_o(rgmii_tx_ctl_o),
      .tx_data_o(rgmii_tx_data_o),
      .rx_ctl_o(rx_ctl),
      .rx_data_o(rx_data),
      .tx_ctl_i(tx_ctl),
      .tx_data_i(tx_data)
  );
  rgmii i_rgmii (
      .clk_i(mac_clk),
      .rst_i(mac_rst),
      .rx_ctl_i(rx_ctl),
      .rx_data_i(rx_data),
      .tx_ctl_o(tx_ctl),
      .tx_data_o(tx_data),
      .rx_valid_o(rx_valid),
      .rx_o(rx),
      .tx_valid_i(tx_valid),
      .tx_i(tx),
      .tx_ready_o(tx_ready)
  );
  core_nic_alone #(
      .Image(Image),
      .ImageWords(ImageWords),
      .Mac(Mac),
      .Ip(Ip)
  ) i_nic (
      .core_clk_i(core_clk),
      .core_rst_i(core_rst),
      .running_o(running),
      .trapped_o(trapped),
      .mac_clk_i(mac_clk),
      .mac_rst_i(mac_rst),
      .mac_rx_valid_i(rx_valid),
      .mac_rx_i(rx),
      .mac_tx_valid_o(tx_valid),
      .mac_tx_o(tx),
      .mac_tx_ready_i(tx_ready)
  );
endmodule

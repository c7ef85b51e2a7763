// SPDX-License-Identifier: Apache-2.0
/// AMD Alveo U250 (XCU250, gen3 x16, two QSFP28): host-nic with two 100G ports of one interface.
///
/// Wiring only. Pins by name in pins.xdc. host-nic is in the PCIe block's user clock, each MAC's side in those of its transceivers; the
/// board's 300 MHz, by three, start the transceivers. A QSFP's LED is lit while its link is up; the third while the PCIe link is.
module au250
  import cmac_pkg::*;
  import xgmii_pkg::*;
  import pins_pkg::*;
#(
    parameter int TxQueues = 2048,
    parameter int RxQueues = 2048,
    localparam int Ports = 2
) (
    input logic clk300_p_i,
    input logic clk300_n_i,
    output logic [2:0] led_o,

    input  logic        pcie_refclk_p_i,
    input  logic        pcie_refclk_n_i,
    input  logic        pcie_rst_ni,
    input  logic [15:0] pcie_rx_p_i,
    input  logic [15:0] pcie_rx_n_i,
    output logic [15:0] pcie_tx_p_o,
    output logic [15:0] pcie_tx_n_o,

    input logic [Ports-1:0] qsfp_refclk_p_i,
    input logic [Ports-1:0] qsfp_refclk_n_i,
    input logic [Ports-1:0][3:0] qsfp_rx_p_i,
    input logic [Ports-1:0][3:0] qsfp_rx_n_i,
    output logic [Ports-1:0][3:0] qsfp_tx_p_o,
    output logic [Ports-1:0][3:0] qsfp_tx_n_o,
    output logic [Ports-1:0] qsfp_modsel_no,
    output logic [Ports-1:0] qsfp_rst_no,
    output logic [Ports-1:0] qsfp_lpmode_o,
    output logic [Ports-1:0] qsfp_refclk_rst_o,
    output logic [Ports-1:0][1:0] qsfp_fs_o  // frequency of qsfp_refclk
);
  localparam logic [1:0] Refclk161 = 2'b10;  // 161.1328125 MHz
  logic clk, rst, clk300, init_clk, init_rst;
  logic [Ports-1:0] aligned;
  logic tx_clk[Ports], tx_rst[Ports], rx_clk[Ports], rx_rst[Ports];
  cmac_in_t  from_mac[Ports];
  cmac_out_t to_mac  [Ports];
  xgmii_pins_t no_line[Ports], unused_line[Ports];
  pcie_pins_in_t pcie_in;
  pcie_pins_out_t pcie_out;
  logic unused_ptp_out;
  assign led_o = {pcie_in.usplus.lnk_up, aligned};
  assign pcie_in.ideal = '{default: '0};
  assign pcie_in.ptile = '{default: '0};

  IBUFDS i_clk300 (
      .I (clk300_p_i),
      .IB(clk300_n_i),
      .O (clk300)
  );
  BUFGCE_DIV #(
      .BUFGCE_DIVIDE(3)
  ) i_init_clk (
      .I  (clk300),
      .CE (1'b1),
      .CLR(1'b0),
      .O  (init_clk)
  );
  reset_sync i_init_rst (
      .clk_i(init_clk),
      .rst_i(!pcie_rst_ni),
      .rst_o(init_rst)
  );
  pcie4_block i_pcie (
      .refclk_p_i(pcie_refclk_p_i),
      .refclk_n_i(pcie_refclk_n_i),
      .rst_ni(pcie_rst_ni),
      .rx_p_i(pcie_rx_p_i),
      .rx_n_i(pcie_rx_n_i),
      .tx_p_o(pcie_tx_p_o),
      .tx_n_o(pcie_tx_n_o),
      .clk_o(clk),
      .rst_o(rst),
      .pins_o(pcie_in.usplus),
      .pins_i(pcie_out.usplus)
  );
  for (genvar p = 0; p < Ports; p++) begin : g_port
    assign qsfp_modsel_no[p] = 1'b1;  // nobody asks the module anything
    assign qsfp_rst_no[p] = 1'b1;
    assign qsfp_lpmode_o[p] = 1'b0;
    assign qsfp_refclk_rst_o[p] = init_rst;
    assign qsfp_fs_o[p] = Refclk161;
    assign no_line[p] = '{data: {8{Idle}}, ctl: '1};
    cmac_block #(
        .Number(p)
    ) i_mac (
        .init_clk_i(init_clk),
        .init_rst_i(init_rst),
        .refclk_p_i(qsfp_refclk_p_i[p]),
        .refclk_n_i(qsfp_refclk_n_i[p]),
        .rx_p_i(qsfp_rx_p_i[p]),
        .rx_n_i(qsfp_rx_n_i[p]),
        .tx_p_o(qsfp_tx_p_o[p]),
        .tx_n_o(qsfp_tx_n_o[p]),
        .tx_clk_o(tx_clk[p]),
        .tx_rst_o(tx_rst[p]),
        .rx_clk_o(rx_clk[p]),
        .rx_rst_o(rx_rst[p]),
        .mac_o(from_mac[p]),
        .mac_i(to_mac[p]),
        .aligned_o(aligned[p])
    );
  end
  host_nic #(
      .Ports(Ports),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .PcieInterface(PinsUsPlus)
  ) i_nic (
      .clk_i(clk),
      .rst_i(rst),
      .pcie_i(pcie_in),
      .pcie_o(pcie_out),
      .mac_tx_clk_i(tx_clk),
      .mac_tx_rst_i(tx_rst),
      .mac_rx_clk_i(rx_clk),
      .mac_rx_rst_i(rx_rst),
      .mac_i(from_mac),
      .mac_o(to_mac),
      .xgmii_i(no_line),
      .xgmii_o(unused_line),
      .ptp_out_o(unused_ptp_out)
  );
endmodule

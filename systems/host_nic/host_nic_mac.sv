// SPDX-License-Identifier: Apache-2.0
/// The MAC of one port of host-nic: outside, at 100G; at 10G and 25G it is xgmii_mac, with registers in both of its clocks.
///
/// Wiring only. Either way the port has the pins of a CMAC before it. At 100G `regs` is not answered and XGMII is idle; else the pins of the
/// hard block are not used.
module host_nic_mac
  import cmac_pkg::*;
  import xgmii_pkg::*;
  import nic_mac_map_pkg::*;
#(
    parameter int PortGbps = 100,
    parameter int AddrW = 26
) (
    input logic clk_i,
    input logic rst_i,

    // Registers: nic_mac_map of host_nic.rdl.
    reg_if.slave regs,

    input logic tx_clk_i,
    input logic tx_rst_i,
    input logic rx_clk_i,
    input logic rx_rst_i,

    // The port.
    input  cmac_out_t port_i,
    output cmac_in_t  port_o,

    // The line.
    input  cmac_in_t    cmac_i,
    output cmac_out_t   cmac_o,
    input  xgmii_pins_t xgmii_i,
    output xgmii_pins_t xgmii_o
);
  assign cmac_o = port_i;
  if (PortGbps == 100) begin : g_outside
    wire unused = &{1'b0, clk_i, rst_i, tx_clk_i, tx_rst_i, rx_clk_i, rx_rst_i, xgmii_i.data, xgmii_i.ctl};
    assign port_o  = cmac_i;
    assign xgmii_o = '{data: {8{Idle}}, ctl: '1};
  end else begin : g_xgmii
    reg_if #(.AddrW(AddrW)) way[2] ();
    reg_if #(.AddrW(AddrW)) tx ();
    reg_if #(.AddrW(AddrW)) rx ();
    reg_if #(.AddrW(AddrW)) tx_part[2] ();
    reg_if #(.AddrW(AddrW)) rx_part[2] ();
    reg_demux #(
        .N(2),
        .AddrW(AddrW),
        .Base({AddrW'(RxBase), AddrW'(TxBase)}),
        .Size({2{AddrW'(RxBase - TxBase)}})
    ) i_ways (
        .clk_i,
        .rst_i,
        .in(regs),
        .out(way),
        .unmapped_o()
    );
    reg_cross #(
        .AddrW(AddrW)
    ) i_tx_cross (
        .in_clk_i(clk_i),
        .in_rst_i(rst_i),
        .in(way[0]),
        .out_clk_i(tx_clk_i),
        .out_rst_i(tx_rst_i),
        .out(tx)
    );
    reg_cross #(
        .AddrW(AddrW)
    ) i_rx_cross (
        .in_clk_i(clk_i),
        .in_rst_i(rst_i),
        .in(way[1]),
        .out_clk_i(rx_clk_i),
        .out_rst_i(rx_rst_i),
        .out(rx)
    );
    reg_demux #(
        .N(2),
        .AddrW(AddrW),
        .Base({AddrW'(TxCounterBase - TxBase), AddrW'(0)}),
        .Size({AddrW'(TxCounterSize), AddrW'(TxSize)})
    ) i_tx_parts (
        .clk_i(tx_clk_i),
        .rst_i(tx_rst_i),
        .in(tx),
        .out(tx_part),
        .unmapped_o()
    );
    reg_demux #(
        .N(2),
        .AddrW(AddrW),
        .Base({AddrW'(RxCounterBase - RxBase), AddrW'(0)}),
        .Size({AddrW'(RxCounterSize), AddrW'(RxSize)})
    ) i_rx_parts (
        .clk_i(rx_clk_i),
        .rst_i(rx_rst_i),
        .in(rx),
        .out(rx_part),
        .unmapped_o()
    );

    nic_mac_tx_regs_pkg::nic_mac_tx_regs__in_t tx_in;
    nic_mac_tx_regs_pkg::nic_mac_tx_regs__out_t tx_out;
    nic_mac_rx_regs_pkg::nic_mac_rx_regs__in_t rx_in;
    nic_mac_rx_regs_pkg::nic_mac_rx_regs__out_t rx_out;
    logic [1:0] tx_refused;
    logic rx_refused;
    logic [31:0] gap, quanta, max_frame;
    link_fault_t fault;
    reg_range #(
        .N(2),
        .Least({32'd12, 32'd2}),
        .Most({32'd252, 32'd65535})
    ) i_tx_settings (
        .clk_i(tx_clk_i),
        .value_i({tx_out.gap.value.value, tx_out.quanta.value.value}),
        .hold_i('0),
        .next_o({tx_in.gap.value.next, tx_in.quanta.value.next}),
        .refused_o(tx_refused),
        .setting_o({gap, quanta})
    );
    reg_range #(
        .Least(64),
        .Most (16384)
    ) i_rx_settings (
        .clk_i(rx_clk_i),
        .value_i(rx_out.max_frame.value.value),
        .hold_i('0),
        .next_o(rx_in.max_frame.value.next),
        .refused_o(rx_refused),
        .setting_o(max_frame)
    );
    assign tx_in.gap.value.we = tx_refused[1];
    assign tx_in.quanta.value.we = tx_refused[0];
    assign tx_in.settings_refused.value.incr = |tx_refused;
    assign tx_in.status.local_fault.next = fault.local_;
    assign tx_in.status.remote_fault.next = fault.remote;
    assign rx_in.max_frame.value.we = rx_refused;
    assign rx_in.settings_refused.value.incr = rx_refused;
    nic_mac_tx_regs i_tx_regs (
        .clk(tx_clk_i),
        .rst(tx_rst_i),
        .regs(tx_part[0]),
        .hwif_in(tx_in),
        .hwif_out(tx_out)
    );
    nic_mac_rx_regs i_rx_regs (
        .clk(rx_clk_i),
        .rst(rx_rst_i),
        .regs(rx_part[0]),
        .hwif_in(rx_in),
        .hwif_out(rx_out)
    );

    xgmii_mac #(
        .LaneNs(PortGbps == 10 ? 3 : 1)
    ) i_mac (
        .tx_clk_i,
        .tx_rst_i,
        .rx_clk_i,
        .rx_rst_i,
        .tx_cfg_i(
        '{
            pause: tx_out.control.pause.value,
            pfc: tx_out.control.pfc.value,
            untagged: tx_out.control.untagged.value,
            gap: gap[7:0],
            quanta: quanta[15:0],
            station: {tx_out.station_hi.value.value, tx_out.station_lo.value.value}
        }
        ),
        .tx_regs(tx_part[1]),
        .tx_fault_o(fault),
        .tx_paused_o(tx_in.status.paused.next),
        .rx_cfg_i('{keep_control: rx_out.control.keep_control.value, max_frame: max_frame[15:0]}),
        .loop_i(rx_out.control.loopback.value),
        .rx_regs(rx_part[1]),
        .mac_i(port_i),
        .mac_o(port_o),
        .xgmii_i,
        .xgmii_o
    );
  end
endmodule

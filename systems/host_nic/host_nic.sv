// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// host-nic: a queue-managed NIC between a PCIe hard block and Ethernet MACs (host-nic paper, figure 1).
///
/// Wiring only. `clk_i` is the 250 MHz PCIe user clock. PCIe side: the pins of the hard block that `PcieInterface` names. MAC side: of each port those of
/// a CMAC (cmac_pkg; 322.265625 MHz each way, of any phase), or with `PortGbps` 25 or 10 XGMII (xgmii_pkg; 390.625, 156.25 MHz). A reset at any time, or of
/// the function, resets all (reset_sequencer), MACs too. Registers: BAR 0 as in host_nic.rdl. No output depends combinationally on an input.
module host_nic
  import pcie_pkg::*;
  import pins_pkg::*;
  import eth_pkg::*;
  import cmac_pkg::*;
  import xgmii_pkg::*;
  import queue_pkg::*;
  import host_nic_map_pkg::*;
#(
    parameter int Interfaces = 1,
    parameter int Ports = 1,  // of each interface
    parameter int TxQueues = 256,  // of each interface
    parameter int RxQueues = 256,  // of each interface
    parameter int EventQueues = 32,  // of each interface
    parameter int Scheduler = SchedRr,  // of each port: queue_pkg
    parameter int FlowEntries = 1024,  // of each port's exact-match steering
    parameter int Functions = 1,  // with virtual ones (SR-IOV), a power of two up to 64
    parameter bit Vlan = 0,  // tags are put in and taken out
    parameter bit Segment = 0,  // long TCP packets are cut into frames
    parameter bit Split = 0,  // headers of received frames can go to buffers of their own
    parameter bit Filter = 0,  // each function has a MAC address: frames to it are its own
    parameter bit Coalesce = 0,  // consecutive TCP segments are joined
    parameter bit Shared = 0,  // queues are all ports' of their interface
    parameter int DescSlots = 512,  // descriptor blocks kept on chip, each direction
    parameter int CplLines = 64,  // completion lines open or being written, each direction
    parameter int MaxPackets = 512,  // packets in flight in an engine
    parameter int TxRamBytes = 131072,  // packet RAM of a port, transmit
    parameter int RxRamBytes = 131072,  // receive
    parameter int MaxFrame = 16256,  // without FCS
    parameter int PortGbps = 100,  // or 25, 10: with the MAC inside
    parameter int Tags = 256,  // PCIe reads in flight
    parameter int ReadBytes = 32768,  // of packets that a port has asked for and not got yet
    parameter int PcieInterface = PinsIdeal,  // whose pins the hard block has: pins_pkg
    localparam int MacPorts = Interfaces * Ports
) (
    input logic clk_i,
    input logic rst_i,

    // PCIe hard block.
    input  pcie_pins_in_t  pcie_i,
    output pcie_pins_out_t pcie_o,

    // MAC hard blocks.
    input  logic        mac_tx_clk_i[MacPorts],
    input  logic        mac_tx_rst_i[MacPorts],
    input  logic        mac_rx_clk_i[MacPorts],
    input  logic        mac_rx_rst_i[MacPorts],
    input  cmac_in_t    mac_i       [MacPorts],
    output cmac_out_t   mac_o       [MacPorts],
    input  xgmii_pins_t xgmii_i     [MacPorts],
    output xgmii_pins_t xgmii_o     [MacPorts],

    // A square wave in the time of the PTP clock.
    output logic ptp_out_o
);
  localparam int AddrW = MapW;
  localparam int HostAddrW = AddrW + $clog2(Functions);

  // ---------------------------------------------------------------- resets
  localparam int Domains = 1 + 2 * MacPorts;
  logic [Domains-1:0] domain_clk, domain_asks, domain_rst;
  logic device_rst, rst, mac_tx_rst[MacPorts], mac_rx_rst[MacPorts];
  assign domain_clk[0] = clk_i;
  assign domain_asks[0] = device_rst;
  assign rst = domain_rst[0];
  for (genvar i = 0; i < MacPorts; i++) begin : g_reset
    assign domain_clk[1+2*i+:2] = {mac_rx_clk_i[i], mac_tx_clk_i[i]};
    assign domain_asks[1+2*i+:2] = {mac_rx_rst_i[i], mac_tx_rst_i[i]};
    assign mac_tx_rst[i] = domain_rst[1+2*i];
    assign mac_rx_rst[i] = domain_rst[2+2*i];
  end
  reset_sequencer #(
      .Domains(Domains)
  ) i_resets (
      .clk_i(domain_clk),
      .rst_i(domain_asks),
      .rst_o(domain_rst)
  );

  // ---------------------------------------------------------------- PCIe
  pcie_cfg_t cfg;
  function_done_t function_done;
  reg_if #(.AddrW(HostAddrW)) host_regs ();
  `STREAM_ON(tlp_beat_t, request, clk_i, rst)
  `STREAM_ON(tlp_beat_t, access, clk_i, rst)
  `STREAM_ON(wide_tlp_beat_t, completion, clk_i, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, clk_i, rst)
  `STREAM_ON(wide_tlp_beat_t, posted_tlp[2], clk_i, rst)  // DMA, interrupts
  logic unused_up, tlp_foreign, request_unsupported, request_dropped, line_dropped;
  line_write_t line;
  pcie_endpoint #(
      .Interface(PcieInterface),
      .Functions(Functions),
      .AddrW(HostAddrW),
      .Posted(2),
      .Sent(wide_tlp_beat_t),
      .Received(wide_tlp_beat_t)
  ) i_endpoint (
      .clk_i,
      .rst_i,
      .pins_i(pcie_i),
      .pins_o(pcie_o),
      .cfg_o(cfg),
      .up_o(unused_up),
      .rst_o(device_rst),
      .virtual_done_i(function_done),
      .req(request),
      .access,
      .regs(host_regs),
      .cpl(completion),
      .read(read_tlp),
      .tx(posted_tlp),
      .foreign_o(tlp_foreign),
      .unsupported_o(request_unsupported),
      .dropped_o(request_dropped)
  );

  // The physical function's alone.
  window_lines #(
      .AddrW(HostAddrW),
      .Base (HostAddrW'(PushBase)),
      .Size (HostAddrW'(PushSize))
  ) i_push (
      .clk_i,
      .rst_i(rst),
      .in(request),
      .other(access),
      .line_o(line),
      .dropped_o(line_dropped)
  );

  // ---------------------------------------------------------------- the NIC
  reg_if #(.AddrW(AddrW)) mac_regs[MacPorts] ();
  cmac_in_t  from_mac[MacPorts];
  cmac_out_t to_mac  [MacPorts];
  nic_core #(
      .Interfaces(Interfaces),
      .Ports(Ports),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .EventQueues(2 * Functions > EventQueues ? 2 * Functions : EventQueues),
      .Scheduler(Scheduler),
      .FlowEntries(FlowEntries),
      .Functions(Functions),
      .Built(
      '{
          filter: Filter,
          coalesce: Coalesce,
          split: Split,
          shared: Shared,
          segments: Segment,
          vlan: Vlan
      }
      ),
      .DescSlots(DescSlots),
      .CplLines(CplLines),
      .MaxPackets(MaxPackets),
      .TxRamBytes(TxRamBytes),
      .RxRamBytes(RxRamBytes),
      .MaxFrame(MaxFrame),
      .MacRegs(PortGbps != 100),
      .Tags(Tags),
      .ReadBytes(ReadBytes)
  ) i_core (
      .clk_i,
      .rst_i(rst),
      .forget_i(rst_i),
      .cfg_i(cfg),
      .function_done_o(function_done),
      .regs(host_regs),
      .line_i(line),
      .read_tlp,
      .cpl(completion),
      .write_tlp(posted_tlp),
      .foreign_i(tlp_foreign),
      .refused_i(request_unsupported || request_dropped || line_dropped),
      .mac_tx_clk_i,
      .mac_tx_rst_i(mac_tx_rst),
      .mac_rx_clk_i,
      .mac_rx_rst_i(mac_rx_rst),
      .mac_i(from_mac),
      .mac_o(to_mac),
      .mac_regs,
      .ptp_out_o
  );

  for (genvar i = 0; i < MacPorts; i++) begin : g_mac
    host_nic_mac #(
        .PortGbps(PortGbps),
        .AddrW(AddrW)
    ) i_mac (
        .clk_i,
        .rst_i(rst),
        .regs(mac_regs[i]),
        .tx_clk_i(mac_tx_clk_i[i]),
        .tx_rst_i(mac_tx_rst[i]),
        .rx_clk_i(mac_rx_clk_i[i]),
        .rx_rst_i(mac_rx_rst[i]),
        .port_i(to_mac[i]),
        .port_o(from_mac[i]),
        .cmac_i(mac_i[i]),
        .cmac_o(mac_o[i]),
        .xgmii_i(xgmii_i[i]),
        .xgmii_o(xgmii_o[i])
    );
  end
endmodule

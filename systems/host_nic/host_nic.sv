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
  import dma_pkg::*;
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
    parameter bit Vlan = 0,  // tags are put in and taken out
    parameter bit Segment = 0,  // long TCP packets are cut into frames
    parameter int DescSlots = 512,  // descriptor blocks kept on chip, each direction
    parameter int CplLines = 64,  // completion lines open or being written, each direction
    parameter int MaxPackets = 512,  // packets in flight in an engine
    parameter int TxRamBytes = 131072,  // packet RAM of a port, transmit
    parameter int RxRamBytes = 131072,  // receive
    parameter int MaxFrame = 9216,  // without FCS
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
  localparam int Vectors = MsixEntryCount;
  localparam int ReadClients = 2 + Ports;
  localparam int WriteClients = 3 + 2 * Ports;

  if (Interfaces < 1 || Interfaces > InterfaceCount || Ports < 1 || Ports > 4) begin : g_bad_ports
    $fatal(1, "host_nic: Interfaces %0d and Ports %0d must be 1 ... 4", Interfaces, Ports);
  end
  if (Interfaces * WriteClients > 2 ** SelW) begin : g_bad_clients
    $fatal(1, "host_nic: more DMA clients than dma_pkg::SelW can name");
  end

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
  reg_if #(.AddrW(AddrW)) host_regs ();
  `STREAM_ON(tlp_beat_t, request, clk_i, rst)
  `STREAM_ON(tlp_beat_t, access, clk_i, rst)
  `STREAM_ON(wide_tlp_beat_t, completion, clk_i, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, clk_i, rst)
  `STREAM_ON(wide_tlp_beat_t, posted_tlp[2], clk_i, rst)  // DMA, interrupts
  `STREAM_ON(tlp_beat_t, irq_tlp, clk_i, rst)
  logic unused_up, tlp_foreign, request_unsupported, request_dropped, line_dropped;
  line_write_t line;
  pcie_endpoint #(
      .Interface(PcieInterface),
      .AddrW(AddrW),
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

  window_lines #(
      .AddrW(AddrW),
      .Base (AddrW'(PushBase)),
      .Size (AddrW'(PushSize))
  ) i_push (
      .clk_i,
      .rst_i(rst),
      .in(request),
      .other(access),
      .line_o(line),
      .dropped_o(line_dropped)
  );

  `STREAM_ON(dma_req_t, read_client[Interfaces*ReadClients], clk_i, rst)
  `STREAM_ON(dma_req_t, write_client[Interfaces*WriteClients], clk_i, rst)
  dma_status_t read_status, write_status;
  ram_write_t ram_write;
  ram_read_t ram_read;
  ram_row_t ram_row;
  dma_read_count_t read_count;
  logic [31:0] dma_timeout, dma_overtaken;
  // Descriptors, completions and events go before packet data.
  dma_engines #(
      .Reads(Interfaces * ReadClients),
      .Writes(Interfaces * WriteClients),
      .ReadHigh({Interfaces{{Ports{1'b0}}, 2'b11}}),
      .WriteHigh({Interfaces{{2 * Ports{1'b0}}, 3'b111}}),
      .Tags(Tags),
      .Sent(wide_tlp_beat_t),
      .Received(wide_tlp_beat_t)
  ) i_dma (
      .clk_i,
      .rst_i(rst),
      .forget_i(rst_i),
      .cfg_i(cfg),
      .timeout_cycles_i(dma_timeout),
      .overtaken_cycles_i(dma_overtaken[15:0]),
      .read_tlp,
      .cpl(completion),
      .write_tlp(posted_tlp[0]),
      .read(read_client),
      .ram_write_o(ram_write),
      .read_status_o(read_status),
      .read_count_o(read_count),
      .write(write_client),
      .ram_read_o(ram_read),
      .ram_row_i(ram_row),
      .write_status_o(write_status)
  );

  // ---------------------------------------------------------------- registers
  localparam int RegDevice = 0, RegModeration = 1, RegMsix = 2, RegInterface = 3;
  localparam int RegMac = RegInterface + Interfaces, MacRegions = PortGbps == 100 ? 0 : MacPorts;
  localparam int RegRegions = RegMac + MacRegions;
  typedef logic [RegRegions-1:0][AddrW-1:0] region_t;

  function automatic region_t regions(bit sizes);
    regions[RegDevice] = AddrW'(sizes ? DeviceSize : DeviceBase);
    regions[RegModeration] = AddrW'(sizes ? ModerationSize : ModerationBase);
    regions[RegMsix] = AddrW'(sizes ? MsixSize : MsixBase);
    for (int i = 0; i < Interfaces; i++)
    regions[RegInterface+i] = AddrW'(sizes ? InterfaceStride : InterfaceBase + i * InterfaceStride);
    for (int i = 0; i < MacRegions; i++)
    regions[RegMac+i] = AddrW'(sizes ? MacStride : MacBase + i * MacStride);
  endfunction

  reg_if #(.AddrW(AddrW)) region[RegRegions+MacPorts] ();  // last: where there is none
  reg_demux #(
      .N(RegRegions),
      .AddrW(AddrW),
      .AtOnce(1),
      .Base(regions(0)),
      .Size(regions(1))
  ) i_regs (
      .clk_i,
      .rst_i(rst),
      .in(host_regs),
      .out(region[0:RegRegions-1]),
      .unmapped_o()
  );

  nic_device_regs_pkg::nic_device_regs__in_t hw_in;
  nic_device_regs_pkg::nic_device_regs__out_t hw_out;
  ptp_time_t core_time;
  logic [31:0] core_fraction;
  logic [1:0] settings_refused;
  reg_range #(
      .N(2),
      .Least({32'd2500, 32'd250}),
      .Most({32'd250_000_000, 32'd65535})
  ) i_settings (
      .clk_i,
      .value_i({hw_out.dma_timeout.value.value, hw_out.dma_overtaken.value.value}),
      .hold_i('0),
      .next_o({hw_in.dma_timeout.value.next, hw_in.dma_overtaken.value.next}),
      .refused_o(settings_refused),
      .setting_o({dma_timeout, dma_overtaken})
  );
  assign hw_in.dma_timeout.value.we = settings_refused[1];
  assign hw_in.dma_overtaken.value.we = settings_refused[0];
  assign hw_in.settings_refused.value.incr = |settings_refused;
  assign hw_in.dma_reads.value.next = 32'(read_count.in_use);
  assign hw_in.interfaces.value.next = 32'(Interfaces);
  assign hw_in.interface_offset.value.next = 32'(InterfaceBase);
  assign hw_in.interface_stride.value.next = 32'(InterfaceStride);
  assign hw_in.vectors.value.next = 32'(Vectors);
  assign hw_in.mac_offset.value.next = 32'(MacRegions == 0 ? 0 : MacBase);
  assign hw_in.core_khz.value.next = 32'd250000;
  assign hw_in.moderation_offset.value.next = 32'(ModerationBase);
  assign hw_in.dma_timeouts.value.incr = read_count.timeout;
  assign hw_in.dma_errors.value.incr = read_count.error || read_count.poisoned;
  assign hw_in.dma_late.value.incr = read_count.late;
  assign hw_in.dma_unexpected.value.incr = read_count.unexpected || read_count.malformed;
  assign hw_in.tlp_foreign.value.incr = tlp_foreign;
  assign hw_in.tlp_refused.value.incr = request_unsupported || request_dropped || line_dropped;

  nic_device_regs i_device_regs (
      .clk(clk_i),
      .rst(rst),
      .regs(region[RegDevice]),
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );

  // ---------------------------------------------------------------- interrupts
  `STREAM_ON(queue_t, interface_vector[Interfaces], clk_i, rst)
  `STREAM_ON(queue_t, vector, clk_i, rst)
  `STREAM_ON(queue_t, moderated, clk_i, rst)
  arb_rr #(
      .T(queue_t),
      .N(Interfaces)
  ) i_vector (
      .clk_i,
      .rst_i(rst),
      .in(interface_vector),
      .out(vector),
      .index_o()
  );
  irq_moderate #(
      .Vectors(Vectors)
  ) i_moderate (
      .clk_i,
      .rst_i(rst),
      .regs(region[RegModeration]),
      .in(vector),
      .out(moderated)
  );
  msix #(
      .Vectors  (Vectors),
      .PbaOffset(16'(MsixPendingBase - MsixBase))
  ) i_msix (
      .clk_i,
      .rst_i(rst),
      .cfg_i(cfg),
      .regs(region[RegMsix]),
      .vector(moderated),
      .tlp(irq_tlp),
      .sent_o(),
      .dropped_o()
  );

  tlp_extend i_irq_tlp (
      .clk_i,
      .rst_i(rst),
      .in(irq_tlp),
      .out(posted_tlp[1])
  );

  // ---------------------------------------------------------------- time
  ptp_clock i_ptp (
      .clk_i,
      .rst_i(rst),
      .adjust_i(hw_out.ptp_adjust.value.value),
      .step_valid_i(hw_out.ptp_command.step.value),
      .step_i(hw_out.ptp_value_lo.value.value),
      .set_valid_i(hw_out.ptp_command.set.value),
      .set_i({hw_out.ptp_value_hi.value.value, hw_out.ptp_value_lo.value.value}),
      .time_o(core_time),
      .fraction_o(core_fraction)
  );
  ptp_period i_ptp_period (
      .clk_i,
      .rst_i  (rst),
      .time_i (core_time),
      .run_i  (hw_out.ptp_out.run.value),
      .start_i({hw_out.ptp_out_start_hi.value.value, hw_out.ptp_out_start_lo.value.value}),
      .half_i (hw_out.ptp_out_half.value.value),
      .level_o(ptp_out_o)
  );
  time_regs i_time_regs (
      .clk_i,
      .time_i (core_time),
      .fraction_i(core_fraction),
      .latch_i(hw_out.ptp_time_lo.value.swacc),
      .lo_o   (hw_in.ptp_time_lo.value.next),
      .hi_o   (hw_in.ptp_time_hi.value.next),
      .fraction_o(hw_in.ptp_time_fraction.value.next)
  );

  // ---------------------------------------------------------------- interfaces
  ram_row_t [Interfaces-1:0] interface_row;
  cmac_in_t from_mac[MacPorts];
  cmac_out_t to_mac[MacPorts];
  for (genvar i = 0; i < Interfaces; i++) begin : g_interface
    host_nic_interface #(
        .Index(i),
        .Scheduler(Scheduler),
        .Ports(Ports),
        .TxQueues(TxQueues),
        .RxQueues(RxQueues),
        .EventQueues(EventQueues),
        .FlowEntries(FlowEntries),
        .Built('{segments: Segment, vlan: Vlan}),
        .DescSlots(DescSlots),
        .CplLines(CplLines),
        .MaxPackets(MaxPackets),
        .TxRamBytes(TxRamBytes),
        .ReadBytes(ReadBytes),
        .RxRamBytes(RxRamBytes),
        .MaxFrame(MaxFrame),
        .AddrW(AddrW)
    ) i_interface (
        .clk_i,
        .rst_i(rst),
        .regs(region[RegInterface+i]),
        .dma_read(read_client[i*ReadClients:(i+1)*ReadClients-1]),
        .read_status_i(read_status),
        .ram_write_i(ram_write),
        .line_i(line),
        .dma_write(write_client[i*WriteClients:(i+1)*WriteClients-1]),
        .write_status_i(write_status),
        .ram_read_i(ram_read),
        .ram_row_o(interface_row[i]),
        .vector(interface_vector[i]),
        .time_i(core_time),
        .mac_tx_clk_i(mac_tx_clk_i[i*Ports:(i+1)*Ports-1]),
        .mac_tx_rst_i(mac_tx_rst[i*Ports:(i+1)*Ports-1]),
        .mac_rx_clk_i(mac_rx_clk_i[i*Ports:(i+1)*Ports-1]),
        .mac_rx_rst_i(mac_rx_rst[i*Ports:(i+1)*Ports-1]),
        .mac_i(from_mac[i*Ports:(i+1)*Ports-1]),
        .mac_o(to_mac[i*Ports:(i+1)*Ports-1])
    );
  end

  for (genvar i = 0; i < MacPorts; i++) begin : g_mac
    host_nic_mac #(
        .PortGbps(PortGbps),
        .AddrW(AddrW)
    ) i_mac (
        .clk_i,
        .rst_i(rst),
        .regs(region[MacRegions==0?RegRegions+i : RegMac+i]),
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

  ram_row_or #(
      .N(Interfaces)
  ) i_ram_row (
      .row_i(interface_row),
      .row_o(ram_row)
  );
endmodule

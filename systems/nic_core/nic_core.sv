// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// A queue-managed NIC behind any PCIe endpoint and before any MACs: DMA, registers, interrupts, time, interfaces.
///
/// Wiring only, for the tops of systems: host_nic has it before its MACs, direct_router_pcie as a card's way through the host. Registers as in host_nic.rdl,
/// but for `push`, which `line_i` brings. `rst_i` resets all of it, MAC sides have resets of their own (reset_sequencer, or one clock);
/// with `forget_i` no completion comes for the reads before. With `Functions` (SR-IOV) the highest bits of an address on `regs` are the function's. What it sends is `Sent`, what it gets `Received` (pcie_endpoint).
module nic_core
  import pcie_pkg::*;
  import dma_pkg::*;
  import eth_pkg::*;
  import cmac_pkg::*;
  import queue_pkg::*;
  import host_nic_map_pkg::*;
#(
    parameter int Interfaces = 1,
    parameter int Ports = 1,  // of each interface
    parameter int TxQueues = 256,  // of each interface
    parameter int RxQueues = 256,  // of each interface
    parameter int EventQueues = 32,  // of each interface
    parameter int Scheduler = int'(SchedRr),  // of each port: queue_pkg
    parameter int FlowEntries = 1024,  // of each port's exact-match steering
    parameter int Functions = 1,  // in all, a power of two: each has its share of queues, event queues and vectors (function_regs)
    parameter engine_pkg::built_t Built = '0,  // what there is besides
    parameter bit Steered = 0,  // the MAC side says a frame's receive queue where it would say its time (rx_steer)
    parameter int DescSlots = 512,  // descriptor blocks kept on chip, each direction
    parameter int CplLines = 64,  // completion lines open or being written, each direction
    parameter int MaxPackets = 512,  // packets in flight in an engine
    parameter int TxRamBytes = 131072,  // packet RAM of a port, transmit
    parameter int RxRamBytes = 131072,  // receive
    parameter int MaxFrame = 16256,  // without FCS
    parameter bit MacRegs = 0,  // the MACs have registers
    parameter int Tags = 256,  // PCIe reads in flight
    parameter int ReadBytes = 32768,  // of packets that a port has asked for and not got yet
    parameter int CoreKhz = 250000,  // of clk_i
    parameter int AddrW = MapW,  // of the registers: from 24 on
    parameter type Sent = wide_tlp_beat_t,
    parameter type Received = wide_tlp_beat_t,
    localparam int MacPorts = Interfaces * Ports
) (
    input logic clk_i,
    input logic rst_i,
    input logic forget_i,

    // PCIe: registers, what is written to the push window, read requests (tlp_beat_t), completions (Received), writes and interrupts (Sent).
    input pcie_cfg_t cfg_i,
    output function_done_t function_done_o,
    reg_if.slave regs,
    input line_write_t line_i,
    stream_if.src read_tlp,
    stream_if.snk cpl,
    stream_if.src write_tlp[2],
    input logic foreign_i,  // a clock for each packet of a type that is not taken,
    input logic refused_i,  // and of a shape

    // MAC side of each port.
    input logic mac_tx_clk_i[MacPorts],
    input logic mac_tx_rst_i[MacPorts],
    input logic mac_rx_clk_i[MacPorts],
    input logic mac_rx_rst_i[MacPorts],
    input cmac_in_t mac_i[MacPorts],
    output cmac_out_t mac_o[MacPorts],
    reg_if.master mac_regs[MacPorts],

    // A square wave in the time of the PTP clock.
    output logic ptp_out_o
);
  localparam int Vectors = 2 * Functions > MsixEntryCount ? 2 * Functions : MsixEntryCount;
  localparam int ReadClients = 2 + Ports;
  localparam int WriteClients = 3 + 2 * Ports;

  if (Interfaces < 1 || Interfaces > InterfaceCount || Ports < 1 || Ports > 4) begin : g_bad_ports
    $fatal(1, "nic_core: Interfaces %0d and Ports %0d must be 1 ... 4", Interfaces, Ports);
  end
  if (Interfaces * WriteClients > 2 ** SelW) begin : g_bad_clients
    $fatal(1, "nic_core: more DMA clients than dma_pkg::SelW can name");
  end

  if (MaxFrame > engine_pkg::LongestFrame - engine_pkg::UnitBytes) begin : g_bad_frame
    $fatal(1, "nic_core: MaxFrame %0d is more than rx_buffer stores of a frame", MaxFrame);
  end
  if (Built.filter && Functions == 1) begin : g_bad_filter
    $fatal(1, "nic_core: the filter is by function, and there is one");
  end
  if (Built.coalesce && Functions > 1 && !Built.filter) begin : g_bad_coalesce
    $fatal(1, "nic_core: the filter says whose segments are joined");
  end
  if (Functions > 1 && Interfaces > 1) begin : g_bad_functions
    $fatal(1, "nic_core: functions share the queues of one interface");
  end

  `STREAM(dma_req_t, read_client[Interfaces*ReadClients])
  `STREAM(dma_req_t, write_client[Interfaces*WriteClients])
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
      .Functions(Functions),
      .Sent(Sent),
      .Received(Received)
  ) i_dma (
      .clk_i,
      .rst_i,
      .forget_i,
      .cfg_i,
      .timeout_cycles_i(dma_timeout),
      .overtaken_cycles_i(dma_overtaken[15:0]),
      .read_tlp,
      .cpl,
      .write_tlp(write_tlp[0]),
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
  localparam int RegMac = RegInterface + Interfaces, MacRegions = MacRegs ? MacPorts : 0;
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

  reg_if #(.AddrW(AddrW)) all_regs ();
  logic outside;
  nic_functions #(
      .Functions(Functions),
      .AddrW(AddrW),
      .Ports(Ports),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .EventQueues(EventQueues),
      .Vectors(Vectors),
      .Filter(Built.filter)
  ) i_functions (
      .clk_i,
      .rst_i,
      .reset_i(cfg_i.functions.in_reset),
      .done_o(function_done_o),
      .in(regs),
      .out(all_regs),
      .outside_o(outside)
  );

  reg_if #(.AddrW(AddrW)) region[RegRegions] ();
  reg_demux #(
      .N(RegRegions),
      .AddrW(AddrW),
      .AtOnce(1),
      .Base(regions(0)),
      .Size(regions(1))
  ) i_regs (
      .clk_i,
      .rst_i,
      .in(all_regs),
      .out(region),
      .unmapped_o()
  );

  for (genvar i = 0; i < MacPorts; i++) begin : g_mac_regs
    if (MacRegs) begin : g_out
      assign mac_regs[i].req = region[RegMac+i].req;
      assign mac_regs[i].write = region[RegMac+i].write;
      assign mac_regs[i].addr = region[RegMac+i].addr;
      assign mac_regs[i].wdata = region[RegMac+i].wdata;
      assign mac_regs[i].wstrb = region[RegMac+i].wstrb;
      assign region[RegMac+i].ack = mac_regs[i].ack;
      assign region[RegMac+i].rdata = mac_regs[i].rdata;
    end else begin : g_none
      assign mac_regs[i].req   = 1'b0;
      assign mac_regs[i].write = 1'b0;
      assign mac_regs[i].addr  = '0;
      assign mac_regs[i].wdata = '0;
      assign mac_regs[i].wstrb = '0;
      wire unused = &{1'b0, mac_regs[i].ack, mac_regs[i].rdata};
    end
  end

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
  assign hw_in.functions.value.next = '0;  // function_regs says how many there are
  assign hw_in.function_outside.value.incr = outside;
  assign hw_in.function_resets.value.incr = function_done_o.valid;
  assign hw_in.mac_offset.value.next = 32'(MacRegions == 0 ? 0 : MacBase);
  assign hw_in.core_khz.value.next = 32'(CoreKhz);
  assign hw_in.moderation_offset.value.next = 32'(ModerationBase);
  assign hw_in.dma_timeouts.value.incr = read_count.timeout;
  assign hw_in.dma_errors.value.incr = read_count.error || read_count.poisoned;
  assign hw_in.dma_late.value.incr = read_count.late;
  assign hw_in.dma_unexpected.value.incr = read_count.unexpected || read_count.malformed;
  assign hw_in.tlp_foreign.value.incr = foreign_i;
  assign hw_in.tlp_refused.value.incr = refused_i;

  nic_device_regs i_device_regs (
      .clk(clk_i),
      .rst(rst_i),
      .regs(region[RegDevice]),
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );

  // ---------------------------------------------------------------- interrupts
  `STREAM(queue_t, interface_vector[Interfaces])
  `STREAM(queue_t, vector)
  `STREAM(queue_t, moderated)
  `STREAM(tlp_beat_t, irq_tlp)
  logic [(Interfaces > 1 ? $clog2(Interfaces) : 1)-1:0] unused_vector;
  logic unused_msix_sent, unused_msix_dropped;
  arb_rr #(
      .T(queue_t),
      .N(Interfaces)
  ) i_vector (
      .clk_i,
      .rst_i,
      .in(interface_vector),
      .out(vector),
      .index_o(unused_vector)
  );
  irq_moderate #(
      .Vectors(Vectors)
  ) i_moderate (
      .clk_i,
      .rst_i,
      .regs(region[RegModeration]),
      .in  (vector),
      .out (moderated)
  );
  msix #(
      .Vectors  (Vectors),
      .Functions(Functions),
      .PbaOffset(16'(MsixPendingBase - MsixBase))
  ) i_msix (
      .clk_i,
      .rst_i,
      .cfg_i,
      .regs(region[RegMsix]),
      .vector(moderated),
      .tlp(irq_tlp),
      .sent_o(unused_msix_sent),
      .dropped_o(unused_msix_dropped)
  );

  tlp_extend #(
      .Beat(Sent)
  ) i_irq_tlp (
      .clk_i,
      .rst_i,
      .in (irq_tlp),
      .out(write_tlp[1])
  );

  // ---------------------------------------------------------------- time
  ptp_clock #(
      .Period(36'((64'd1_000_000 << 32) / 64'(CoreKhz)))
  ) i_ptp (
      .clk_i,
      .rst_i,
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
      .rst_i,
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
  for (genvar i = 0; i < Interfaces; i++) begin : g_interface
    nic_interface #(
        .Index(i),
        .Scheduler(Scheduler),
        .Ports(Ports),
        .TxQueues(TxQueues),
        .RxQueues(RxQueues),
        .EventQueues(EventQueues),
        .FlowEntries(FlowEntries),
        .Functions(Functions),
        .Built(Built),
        .Steered(Steered),
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
        .rst_i,
        .regs(region[RegInterface+i]),
        .dma_read(read_client[i*ReadClients:(i+1)*ReadClients-1]),
        .read_status_i(read_status),
        .ram_write_i(ram_write),
        .line_i,
        .reset_i(cfg_i.functions.in_reset),
        .dma_write(write_client[i*WriteClients:(i+1)*WriteClients-1]),
        .write_status_i(write_status),
        .ram_read_i(ram_read),
        .ram_row_o(interface_row[i]),
        .vector(interface_vector[i]),
        .time_i(core_time),
        .mac_tx_clk_i(mac_tx_clk_i[i*Ports:(i+1)*Ports-1]),
        .mac_tx_rst_i(mac_tx_rst_i[i*Ports:(i+1)*Ports-1]),
        .mac_rx_clk_i(mac_rx_clk_i[i*Ports:(i+1)*Ports-1]),
        .mac_rx_rst_i(mac_rx_rst_i[i*Ports:(i+1)*Ports-1]),
        .mac_i(mac_i[i*Ports:(i+1)*Ports-1]),
        .mac_o(mac_o[i*Ports:(i+1)*Ports-1])
    );
  end

  ram_row_or #(
      .N(Interfaces)
  ) i_ram_row (
      .row_i(interface_row),
      .row_o(ram_row)
  );
endmodule

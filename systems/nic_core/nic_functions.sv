// SPDX-License-Identifier: Apache-2.0
/// The register port of a NIC with several PCI functions: what each sees (function_regs), and their resets (function_clear).
///
/// Wiring only. With one function the registers are as they are; with several accesses wait a clock more each way, and writes go one a clock as ever (reg_merge).
module nic_functions
  import pcie_pkg::*;
  import queue_pkg::*;
  import host_nic_map_pkg::*;
#(
    parameter int Functions = 1,
    parameter int AddrW = MapW,
    parameter int Ports = 1,
    parameter int TxQueues = 256,
    parameter int RxQueues = 256,
    parameter int EventQueues = 32,
    parameter int Vectors = 32,
    parameter bit Filter = 0  // functions have addresses, and indirection tables
) (
    input logic clk_i,
    input logic rst_i,
    input functions_t reset_i,
    output function_done_t done_o,
    reg_if.slave in,  // the function above AddrW bits
    reg_if.master out,
    output logic outside_o
);
  localparam int Shares = ShareSched + (Filter ? 3 : 1) * Ports;
  localparam int RssEach = RxQueues > 128 * Functions ? RxQueues / Functions : 128;
  function automatic logic [Shares-1:0][31:0] shared_bases();
    shared_bases[ShareModeration] = 32'(ModerationBase);
    shared_bases[ShareVectors] = 32'(MsixBase);
    shared_bases[ShareTxq] = 32'(InterfaceBase + nic_interface_map_pkg::TxqBase);
    shared_bases[ShareRxq] = 32'(InterfaceBase + nic_interface_map_pkg::RxqBase);
    shared_bases[ShareTxcq] = 32'(InterfaceBase + nic_interface_map_pkg::TxcqBase);
    shared_bases[ShareRxcq] = 32'(InterfaceBase + nic_interface_map_pkg::RxcqBase);
    shared_bases[ShareEq] = 32'(InterfaceBase + nic_interface_map_pkg::EqBase);
    for (int p = 0; p < Ports; p++)
    shared_bases[ShareSched+p] = 32'(InterfaceBase + nic_interface_map_pkg::SchedBase + p * nic_interface_map_pkg::SchedStride);
    for (int p = 0; Filter && p < Ports; p++) begin
      shared_bases[ShareSched+Ports+p] = 32'(InterfaceBase + nic_interface_map_pkg::RssBase + p * nic_interface_map_pkg::RssStride);
      shared_bases[ShareSched+2*Ports+p] = 32'(InterfaceBase + nic_interface_map_pkg::FlowBase + p * nic_interface_map_pkg::FlowStride + eth_pkg::FilterAt);
    end
  endfunction
  if (Functions > 1) begin : g_functions
    localparam logic [Shares-1:0][31:0] Bases = shared_bases();
    localparam int RegsAt = InterfaceBase + nic_interface_map_pkg::RegsBase;
    localparam told_at_t At = '{
        device: 32'(DeviceBase),
        device_end: 32'(DeviceBase + nic_device_regs_map_pkg::DmaTimeoutAt),
        vectors: 32'(DeviceBase + nic_device_regs_map_pkg::VectorsAt),
        functions: 32'(DeviceBase + nic_device_regs_map_pkg::FunctionsAt),
        interface_begin: 32'(RegsAt),
        interface_end: 32'(RegsAt + nic_interface_regs_map_pkg::CplDelayAt),
        tx_queues: 32'(RegsAt + nic_interface_regs_map_pkg::TxQueuesAt),
        rx_queues: 32'(RegsAt + nic_interface_regs_map_pkg::RxQueuesAt),
        event_queues: 32'(RegsAt + nic_interface_regs_map_pkg::EventQueuesAt),
        rss_entries: 32'(RegsAt + nic_interface_regs_map_pkg::RssEntriesAt),
        features: 32'(RegsAt + nic_interface_regs_map_pkg::FeaturesAt),
        virtual_bit: 5'(nic_interface_regs_map_pkg::FeaturesIsFunctionBit),
        tx_stat_offset: 32'(RegsAt + nic_interface_regs_map_pkg::TxStatOffsetAt),
        rx_stat_offset: 32'(RegsAt + nic_interface_regs_map_pkg::RxStatOffsetAt),
        pending: 32'(MsixPendingBase)
    };
    reg_if #(.AddrW(AddrW)) host ();
    reg_if #(.AddrW(AddrW)) clear ();
    function_regs #(
        .Functions(Functions),
        .AddrW(AddrW),
        .Ports(Ports),
        .TxQueues(TxQueues),
        .RxQueues(RxQueues),
        .EventQueues(EventQueues),
        .Vectors(Vectors),
        .At(At),
        .Filter(Filter),
        .RssEach(RssEach),
        .Base(Bases)
    ) i_regs (
        .clk_i,
        .rst_i,
        .in,
        .out(host),
        .reset_i,
        .outside_o
    );
    function_clear #(
        .Functions(Functions),
        .AddrW(AddrW),
        .Ports(Ports),
        .TxQueues(TxQueues),
        .RxQueues(RxQueues),
        .EventQueues(EventQueues),
        .Vectors(Vectors),
        .Base(Bases[ShareSched+Ports-1:0])
    ) i_clear (
        .clk_i,
        .rst_i,
        .reset_i,
        .done_o,
        .regs(clear)
    );
    reg_merge #(
        .AddrW(AddrW)
    ) i_masters (
        .clk_i,
        .rst_i,
        .main(host),
        .side(clear),
        .out
    );
  end else begin : g_one_function
    assign done_o = '0;
    assign outside_o = 1'b0;
    assign out.req = in.req;
    assign out.write = in.write;
    assign out.addr = in.addr;
    assign out.wdata = in.wdata;
    assign out.wstrb = in.wstrb;
    assign in.ack = out.ack;
    assign in.rdata = out.rdata;
    wire unused = &{1'b0, clk_i, rst_i, reset_i};
  end
endmodule

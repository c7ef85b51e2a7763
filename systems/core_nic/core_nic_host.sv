// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// core_nic_host: core-nic's side to the host, in the clock of the PCIe hard block.
///
/// Wiring only. The endpoint, the DMA engines that serve the assists, the host's register accesses on their way to the
/// cores' clock (`regs`, the lower half of BAR 0; MSI-X has the upper), and counts of what happened here, in the cores' clock.
/// Each interrupt asked for by a DMA write, after its data, or by firmware is a message of vector 0 after it; several are one
/// while none of them is on its way yet.
module core_nic_host
  import core_nic_map_pkg::MsixBase, core_nic_map_pkg::MsixPendingBase;
  import pcie_pkg::*;
  import pins_pkg::*;
  import dma_pkg::*;
#(
    parameter int PcieInterface = PinsIdeal,  // of pcie_endpoint
    parameter int AddrW = 21,  // of BAR 0
    parameter int Tags = 64  // PCIe reads in flight
) (
    input  logic host_clk_i,
    input  logic host_rst_i,
    input  logic link_rst_i,   // of the link too
    output logic device_rst_o, // what the link's and the function's reset ask for

    // PCIe hard block.
    input  pcie_pins_in_t  pcie_i,
    output pcie_pins_out_t pcie_o,

    // DMA of the assists.
    stream_if.snk dma_read[1],  // dma_req_t
    output ram_write_t ram_write_o,
    output dma_status_t read_status_o,
    input logic read_error_i,
    stream_if.snk dma_write[1],  // dma_req_t
    output ram_read_t ram_read_o,
    input ram_row_t ram_row_i,
    output dma_status_t write_status_o,
    input logic write_interrupt_i,

    // Core clock.
    input logic core_clk_i,
    input logic core_rst_i,
    reg_if.master regs,
    input logic interrupt_i,  // one clock
    input logic [1:0][31:0] limit_i,  // of a read: timeout, overtaken (dma_read)
    output logic [1:0][31:0] limit_o,  // what they are taken for (reg_range)
    output logic [1:0] limit_refused_o,
    output logic [5:0][31:0] count_o  // unexpected and late completions, timeouts; requests refused, for others; failed reads
);
  pcie_cfg_t cfg;
  reg_if #(.AddrW(AddrW)) host_regs ();
  reg_if #(.AddrW(AddrW)) half[2] ();
  `STREAM_ON(tlp_beat_t, request, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, completion, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, read_tlp, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, posted_tlp[2], host_clk_i, host_rst_i)
  logic unused_up, foreign, unsupported, dropped;
  logic [5:0] happened;
  dma_read_count_t read_count;
  logic [1:0][31:0] limit, core_limit;
  reg_range #(
      .N(2),
      .Least({32'd1250, 32'd125}),
      .Most({32'd125_000_000, 32'd65535})
  ) i_limits (
      .clk_i(core_clk_i),
      .value_i(limit_i),
      .hold_i('0),
      .next_o(limit_o),
      .refused_o(limit_refused_o),
      .setting_o(core_limit)
  );
  setting_cross #(
      .Width(64),
      .Reset({32'd125_000, 32'd2500})
  ) i_limit_cross (
      .src_clk_i(core_clk_i),
      .src_rst_i(core_rst_i),
      .value_i  (core_limit),
      .dst_clk_i(host_clk_i),
      .dst_rst_i(host_rst_i),
      .setting_o(limit)
  );

  pcie_endpoint #(
      .Interface(PcieInterface),
      .AddrW(AddrW),
      .Posted(2)
  ) i_endpoint (
      .clk_i(host_clk_i),
      .rst_i(link_rst_i),
      .pins_i(pcie_i),
      .pins_o(pcie_o),
      .cfg_o(cfg),
      .up_o(unused_up),
      .rst_o(device_rst_o),
      .virtual_done_i('0),
      .req(request),
      .access(request),
      .regs(host_regs),
      .cpl(completion),
      .read(read_tlp),
      .tx(posted_tlp),
      .foreign_o(foreign),
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );
  dma_engines #(
      .Tags(Tags)
  ) i_dma (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .forget_i(link_rst_i),
      .cfg_i(cfg),
      .timeout_cycles_i(limit[1]),
      .overtaken_cycles_i(limit[0][15:0]),
      .read_tlp,
      .cpl(completion),
      .write_tlp(posted_tlp[0]),
      .read(dma_read),
      .ram_write_o,
      .read_status_o,
      .read_count_o(read_count),
      .write(dma_write),
      .ram_read_o,
      .ram_row_i,
      .write_status_o
  );

  logic unused_unmapped;
  reg_demux #(
      .N(2),
      .AddrW(AddrW),
      .Base({AddrW'(MsixBase), AddrW'(0)}),
      .Size({2{AddrW'(MsixBase)}})
  ) i_halves (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .in(host_regs),
      .out(half),
      .unmapped_o(unused_unmapped)
  );
  reg_cross #(
      .AddrW(AddrW)
  ) i_reg_cross (
      .in_clk_i(host_clk_i),
      .in_rst_i(host_rst_i),
      .in(half[0]),
      .out_clk_i(core_clk_i),
      .out_rst_i(core_rst_i),
      .out(regs)
  );

  // ---------------------------------------------------------------- interrupts
  `STREAM_ON(logic [15:0], vector, host_clk_i, host_rst_i)
  logic [31:0] raised;
  logic firmware_raises, unused_sent, unused_none;
  count_cross i_raised (
      .src_clk_i(core_clk_i),
      .src_rst_i(core_rst_i),
      .add_i(interrupt_i),
      .dst_clk_i(host_clk_i),
      .dst_rst_i(host_rst_i),
      .count_o(raised)
  );
  change_detect #(
      .Width(32)
  ) i_firmware_raises (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .d_i(raised),
      .changed_o(firmware_raises),
      .rose_o()
  );
  pulse_stream i_vector (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .pulse_i(write_interrupt_i || firmware_raises),
      .out(vector)
  );
  msix #(
      .Vectors  (1),
      .PbaOffset(16'(MsixPendingBase - MsixBase))
  ) i_msix (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .cfg_i(cfg),
      .regs(half[1]),
      .vector,
      .tlp(posted_tlp[1]),
      .sent_o(unused_sent),
      .dropped_o(unused_none)
  );

  // ---------------------------------------------------------------- counts
  assign happened = {
    read_count.unexpected || read_count.malformed,
    read_count.late,
    read_count.timeout,
    unsupported || dropped,
    foreign,
    read_error_i
  };
  for (genvar i = 0; i < 6; i++) begin : g_count
    count_cross i_count (
        .src_clk_i(host_clk_i),
        .src_rst_i(host_rst_i),
        .add_i(happened[i]),
        .dst_clk_i(core_clk_i),
        .dst_rst_i(core_rst_i),
        .count_o(count_o[i])
    );
  end
endmodule

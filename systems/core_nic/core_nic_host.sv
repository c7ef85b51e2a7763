// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// core_nic_host: core-nic's side to the host, in the clock of the PCIe hard block.
///
/// Wiring only. The endpoint, the DMA engines that serve the assists, the host's register accesses on their way to the cores'
/// clock (`regs`), and counts of what happened here, in the cores' clock.
module core_nic_host
  import pcie_pkg::*;
  import dma_pkg::*;
#(
    parameter int AddrW = 20,  // of BAR 0
    parameter int Tags  = 64   // PCIe reads in flight
) (
    input logic host_clk_i,
    input logic host_rst_i,

    // PCIe hard block; the interrupt pin (`interrupt_i` in the cores' clock).
    input  pcie_in_t  pcie_i,
    output pcie_out_t pcie_o,
    input  logic      interrupt_i,
    output logic      irq_o,

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
    output logic [3:0][31:0] count_o  // failed reads, requests for others, requests refused, interrupts of DMA writes
);
  pcie_cfg_t cfg;
  reg_if #(.AddrW(AddrW)) host_regs ();
  `STREAM_ON(tlp_beat_t, request, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, completion, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, read_tlp, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, write_tlp[1], host_clk_i, host_rst_i)
  logic foreign, unsupported, dropped;
  logic [3:0] happened;
  dma_read_count_t unused_count;

  pcie_endpoint #(
      .AddrW(AddrW)
  ) i_endpoint (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .pins_i(pcie_i),
      .pins_o(pcie_o),
      .cfg_o(cfg),
      .req(request),
      .access(request),
      .regs(host_regs),
      .cpl(completion),
      .read(read_tlp),
      .tx(write_tlp),
      .foreign_o(foreign),
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );
  dma_engines #(
      .Tags(Tags)
  ) i_dma (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .cfg_i(cfg),
      .timeout_cycles_i(32'd6_250_000),  // 50 ms
      .overtaken_cycles_i('0),
      .read_tlp,
      .cpl(completion),
      .write_tlp(write_tlp[0]),
      .read(dma_read),
      .ram_write_o,
      .read_status_o,
      .read_count_o(unused_count),
      .write(dma_write),
      .ram_read_o,
      .ram_row_i,
      .write_status_o
  );
  reg_cross #(
      .AddrW(AddrW)
  ) i_reg_cross (
      .in_clk_i(host_clk_i),
      .in_rst_i(host_rst_i),
      .in(host_regs),
      .out_clk_i(core_clk_i),
      .out_rst_i(core_rst_i),
      .out(regs)
  );
  sync_2ff i_irq (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .d_i  (interrupt_i),
      .q_o  (irq_o)
  );
  assign happened = {write_interrupt_i, unsupported || dropped, foreign, read_error_i};
  for (genvar i = 0; i < 4; i++) begin : g_count
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

// SPDX-License-Identifier: Apache-2.0
// The assists between what stands round them in core-nic.
`ifndef EMERY_ASSISTS_PLANT_TB_SVH
`define EMERY_ASSISTS_PLANT_TB_SVH
`include "assists_parts_tb.svh"

/// The four assists (DMA read, DMA write, MAC transmit, MAC receive) with crossbar, scratchpad, DMA engines, frame bus and controller, between
/// a host and a MAC, each side at its own clock. Rings are at `RingAt`, of `Ring` commands, that of received frames of 2**rx_log_i slots.
module assists_plant
  import core_pkg::*, dma_pkg::*, pcie_pkg::*, eth_pkg::*, dram_pkg::*;
#(
    parameter int ScratchBytes = 262144,
    parameter int HostBytes = 2 ** 20,
    parameter logic [63:0] HostBase = 64'h0000_0012_3450_0000,
    parameter int Ring = 256,
    parameter logic [31:0] RingAt[4] = '{default: 0},
    parameter logic [3:0][31:0] Fill = '0,
    parameter logic [31:0] SlotBase = '0
) (
    input  logic                            rst,
    input  logic                     [31:0] producer_i  [4],
    input  logic                     [ 3:0] rx_log_i,
    input  logic                            rx_enable_i,
    output logic                            cclk,
    output logic                            mclk,
    output logic                            hclk,
    output logic                            xclk,
    output logic                     [31:0] progress_o  [4],
    output logic                     [ 3:0] bad_o,
    output logic                            interrupt_o,
    output logic                            read_error_o,
    output assist_pkg::mac_skipped_t        skipped_o,
    output mac_rx_count_t                   rx_count_o,
    output logic                            no_buffer_o
);
  // Core 166.7, memory 500, host 125, MAC 156.25 MHz.
  initial {cclk, mclk, hclk, xclk} = '0;
  always #3 cclk = !cclk;
  always #4 mclk = !mclk;
  always #4 hclk = !hclk;
  always #3.2 xclk = !xclk;

  logic [3:0] req_valid, req_ready, rsp_valid;
  mem_req_t mem_req[4];
  mem_rsp_t mem_rsp[4];
  scratchpad_model #(
      .Masters(4),
      .Bytes  (ScratchBytes)
  ) i_scratch (
      .clk_i(cclk),
      .rst_i(rst),
      .req_valid_i(req_valid),
      .req_i(mem_req),
      .req_ready_o(req_ready),
      .rsp_valid_o(rsp_valid),
      .rsp_o(mem_rsp)
  );

  // ---- frame memory
  localparam int Clients = 5;
  `STREAM_ON(bus_req_t, bus_req[Clients], mclk, rst)
  `STREAM_ON(bus_row_t, bus_wdata[Clients], mclk, rst)
  `STREAM_ON(row_t, bus_rdata[Clients], mclk, rst)
  `STREAM_ON(bus_req_t, rx_req, mclk, rst)
  `STREAM_ON(bus_wdata_t, rx_wdata, mclk, rst)
  `STREAM_ON(bus_req_t, tx_req, mclk, rst)
  `STREAM_ON(logic [127:0], tx_rdata, mclk, rst)
  logic [DramSlots-1:0] dq_valid;
  logic [DramSlots-1:0][127:0] dq_in;
  dram_ca_t [DramSlots-1:0] ca;
  dram_dq_t [DramSlots-1:0] dq;
  write_gearbox i_rx_gearbox (
      .clk_i(mclk),
      .rst_i(rst),
      .req(rx_req),
      .wdata(rx_wdata),
      .row_req(bus_req[1]),
      .row_wdata(bus_wdata[1])
  );
  read_gearbox i_tx_gearbox (
      .clk_i(mclk),
      .rst_i(rst),
      .req(tx_req),
      .rdata(tx_rdata),
      .row_req(bus_req[3]),
      .row_rdata(bus_rdata[3])
  );
  frame_memory #(
      .Clients(Clients)
  ) i_frame_memory (
      .clk_i(mclk),
      .rst_i(rst),
      .req(bus_req),
      .wdata(bus_wdata),
      .rdata(bus_rdata),
      .moves_o(),
      .ca_o(ca),
      .dq_valid_o(dq_valid),
      .dq_o(dq),
      .dq_i(dq_in)
  );
  dram_cells i_cells (
      .clk_i(mclk),
      .rst_i(rst),
      .ca_i(ca),
      .dq_valid_i(dq_valid),
      .dq_i(dq),
      .dq_o(dq_in)
  );
  for (genvar i = 0; i < 2; i++) begin : g_one_way
    assign bus_rdata[i].ready   = 1'b1;
    assign bus_wdata[i+2].valid = 1'b0;
    assign bus_wdata[i+2].data  = '0;
  end
  assign bus_req[4].valid = 1'b0;
  assign bus_req[4].data = '0;
  assign bus_wdata[4].valid = 1'b0;
  assign bus_wdata[4].data = '0;
  assign bus_rdata[4].ready = 1'b1;

  // ---- DMA engines and host
  pcie_cfg_t cfg;
  assign cfg = '{
          requester_id: 16'h100,
          max_payload: 3'd1,
          max_read_request: 3'd2,
          bus_master: 1'b1,
          extended_tag: 1'b1,
          wide_tag: 1'b0,
          relaxed_ordering: 1'b1,
          msix_enable: 1'b0,
          msix_mask: 1'b0,
          functions: '0
      };
  `STREAM_ON(dma_req_t, read_request, hclk, rst)
  `STREAM_ON(dma_req_t, write_request, hclk, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, hclk, rst)
  `STREAM_ON(tlp_beat_t, write_tlp, hclk, rst)
  `STREAM_ON(tlp_beat_t, cpl, hclk, rst)
  ram_write_t ram_write;
  ram_read_t  ram_read;
  ram_row_t   ram_row;
  dma_status_t read_status, write_status;
  dma_read_count_t read_count;
  dma_read #(
      .Tags(64)
  ) i_dma_read (
      .clk_i(hclk),
      .rst_i(rst),
      .forget_i(1'b1),
      .cfg_i(cfg),
      .timeout_cycles_i('0),
      .overtaken_cycles_i('0),
      .req(read_request),
      .tlp(read_tlp),
      .cpl,
      .ram_o(ram_write),
      .status_o(read_status),
      .count_o(read_count)
  );
  dma_write i_dma_write (
      .clk_i(hclk),
      .rst_i(rst),
      .cfg_i(cfg),
      .req(write_request),
      .status_o(write_status),
      .ram_o(ram_read),
      .ram_i(ram_row),
      .tlp(write_tlp)
  );

  tlp_host #(
      .Bytes(HostBytes),
      .Base (HostBase)
  ) i_host (
      .clk_i(hclk),
      .rst_i(rst),
      .read_tlp,
      .write_tlp,
      .cpl
  );

  // ---- assists
  `STREAM_ON(assist_pkg::slot_t, lost, cclk, rst)
  logic tx_valid, tx_ready, rx_valid;
  word_beat_t tx, rx;
  assist_if assist[4] ();
  for (genvar a = 0; a < 4; a++) begin : g_assist
    assign assist[a].base = ScratchBase + RingAt[a];
    assign assist[a].log = a == 3 ? rx_log_i : 4'($clog2(Ring));
    assign assist[a].producer = producer_i[a];
    assign progress_o[a] = assist[a].progress;
    assign bad_o[a] = assist[a].bad;
    assign req_valid[a] = assist[a].mem_valid;
    assign mem_req[a] = assist[a].mem_req;
    assign assist[a].mem_ready = req_ready[a];
    assign assist[a].mem_rsp_valid = rsp_valid[a];
    assign assist[a].mem_rsp = mem_rsp[a];
  end
  dma_read_assist i_read (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[0]),
      .fill_i(Fill),
      .lost,
      .host_clk_i(hclk),
      .host_rst_i(rst),
      .dma(read_request),
      .ram_i(ram_write),
      .status_i(read_status),
      .error_o(read_error_o),
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(bus_req[0]),
      .wdata(bus_wdata[0])
  );
  dma_write_assist i_write (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[1]),
      .host_clk_i(hclk),
      .host_rst_i(rst),
      .dma(write_request),
      .ram_i(ram_read),
      .ram_o(ram_row),
      .status_i(write_status),
      .interrupt_o,
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(bus_req[2]),
      .rdata(bus_rdata[2])
  );
  mac_tx_assist i_tx (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[2]),
      .lost,
      .skipped_o,
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(tx_req),
      .rdata(tx_rdata),
      .mac_clk_i(xclk),
      .mac_rst_i(rst),
      .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready),
      .tx_o(tx)
  );
  mac_rx_assist i_rx (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[3]),
      .slot_base_i(SlotBase),
      .enable_i(rx_enable_i),
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(rx_req),
      .wdata(rx_wdata),
      .mac_clk_i(xclk),
      .mac_rst_i(rst),
      .rx_valid_i(rx_valid),
      .rx_i(rx),
      .count_o(rx_count_o),
      .no_buffer_o
  );
  mac_sink i_sink (
      .clk_i  (xclk),
      .rst_i  (rst),
      .valid_i(tx_valid),
      .beat_i (tx),
      .ready_o(tx_ready)
  );
  mac_source i_source (
      .clk_i  (xclk),
      .valid_o(rx_valid),
      .beat_o (rx)
  );
endmodule

`endif

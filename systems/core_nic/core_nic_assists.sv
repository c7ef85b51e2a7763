// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// core_nic_assists: what moves core-nic's frames: four assists, the frame memory they share, and the MAC.
///
/// Wiring only. Each assist works off its ring of commands in the scratchpad (`assist`, core clock). DMA in the host's clock, frame
/// memory in a quarter of its own (512 bits a clock; the MAC's assists take 128 of them), MAC streams in the MAC's. Receive is never held up: what finds no room is dropped whole
/// and counted.
module core_nic_assists
  import pcie_pkg::*;
  import dma_pkg::*;
  import eth_pkg::*;
  import core_pkg::*;
  import dram_pkg::*;
#(
    parameter int ScratchBytes = 262144,
    parameter int DramBanks = 8,
    parameter int CasLatency = 7
) (
    // Core clock: the assists' rings and crossbar ports, what the cores access of the frame memory, counts.
    input logic core_clk_i,
    input logic core_rst_i,
    assist_if.assist assist[4],  // DMA read, DMA write, MAC transmit, MAC receive
    input logic [31:0] slot_base_i,
    input logic rx_enable_i,
    input logic [3:0][31:0] fill_i,  // dma_read_assist
    output assist_pkg::mac_skipped_t skipped_o,
    input logic frame_valid_i,
    input mem_req_t frame_req_i,
    output logic frame_ready_o,
    output logic frame_rsp_valid_o,
    output mem_rsp_t frame_rsp_o,
    output logic [5:0][31:0] mac_count_o,  // bad FCS, oversize, runt, no buffer, FIFO full, good
    output logic [31:0] frame_rows_o,

    // Host clock: DMA.
    input logic host_clk_i,
    input logic host_rst_i,
    stream_if.src dma_read,  // dma_req_t
    input ram_write_t ram_write_i,
    input dma_status_t read_status_i,
    output logic read_error_o,
    stream_if.src dma_write,  // dma_req_t
    input ram_read_t ram_read_i,
    output ram_row_t ram_row_o,
    input dma_status_t write_status_i,
    output logic write_interrupt_o,

    // MAC clock.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    output logic       mac_tx_valid_o,
    input  logic       mac_tx_ready_i,
    output word_beat_t mac_tx_o,
    input  logic       mac_rx_valid_i,
    input  word_beat_t mac_rx_i,

    // Memory clock / 4.
    input logic mem_clk_i,
    input logic mem_rst_i,
    output dram_ca_t [DramSlots-1:0] dram_ca_o,
    output logic [DramSlots-1:0] dram_dq_valid_o,
    output dram_dq_t [DramSlots-1:0] dram_dq_o,
    input logic [DramSlots-1:0][127:0] dram_dq_i
);
  localparam int Clients = 5;  // of the frame bus: DMA read, MAC receive, DMA write, MAC transmit, cores

  mac_rx_count_t mac_count;
  logic no_buffer;
  `STREAM_ON(assist_pkg::slot_t, lost, core_clk_i, core_rst_i)
  `STREAM_ON(bus_req_t, bus_req[Clients], mem_clk_i, mem_rst_i)
  `STREAM_ON(bus_row_t, bus_wdata[Clients], mem_clk_i, mem_rst_i)
  `STREAM_ON(row_t, bus_rdata[Clients], mem_clk_i, mem_rst_i)
  // Of those that move a word a clock.
  `STREAM_ON(bus_req_t, rx_req, mem_clk_i, mem_rst_i)
  `STREAM_ON(bus_wdata_t, rx_wdata, mem_clk_i, mem_rst_i)
  `STREAM_ON(bus_req_t, tx_req, mem_clk_i, mem_rst_i)
  `STREAM_ON(logic [127:0], tx_rdata, mem_clk_i, mem_rst_i)
  `STREAM_ON(bus_wdata_t, core_wdata, mem_clk_i, mem_rst_i)
  `STREAM_ON(logic [127:0], core_rdata, mem_clk_i, mem_rst_i)
  dma_read_assist #(
      .ScratchBytes(ScratchBytes)
  ) i_dma_read_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[0]),
      .fill_i,
      .lost,
      .host_clk_i,
      .host_rst_i,
      .dma(dma_read),
      .ram_i(ram_write_i),
      .status_i(read_status_i),
      .error_o(read_error_o),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[0]),
      .wdata(bus_wdata[0])
  );
  dma_write_assist #(
      .ScratchBytes(ScratchBytes)
  ) i_dma_write_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[1]),
      .host_clk_i,
      .host_rst_i,
      .dma(dma_write),
      .ram_i(ram_read_i),
      .ram_o(ram_row_o),
      .status_i(write_status_i),
      .interrupt_o(write_interrupt_o),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[2]),
      .rdata(bus_rdata[2])
  );
  mac_tx_assist i_mac_tx_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[2]),
      .lost,
      .skipped_o,
      .mem_clk_i,
      .mem_rst_i,
      .req(tx_req),
      .rdata(tx_rdata),
      .mac_clk_i,
      .mac_rst_i,
      .tx_valid_o(mac_tx_valid_o),
      .tx_ready_i(mac_tx_ready_i),
      .tx_o(mac_tx_o)
  );
  mac_rx_assist i_mac_rx_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[3]),
      .slot_base_i,
      .enable_i(rx_enable_i),
      .mem_clk_i,
      .mem_rst_i,
      .req(rx_req),
      .wdata(rx_wdata),
      .mac_clk_i,
      .mac_rst_i,
      .rx_valid_i(mac_rx_valid_i),
      .rx_i(mac_rx_i),
      .count_o(mac_count),
      .no_buffer_o(no_buffer)
  );

  // ---------------------------------------------------------------- frame memory
  logic frame_row;
  write_gearbox i_rx_gearbox (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .req(rx_req),
      .wdata(rx_wdata),
      .row_req(bus_req[1]),
      .row_wdata(bus_wdata[1])
  );
  read_gearbox i_tx_gearbox (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .req(tx_req),
      .rdata(tx_rdata),
      .row_req(bus_req[3]),
      .row_rdata(bus_rdata[3])
  );
  frame_access i_frame_access (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .valid_i(frame_valid_i),
      .req_i(frame_req_i),
      .ready_o(frame_ready_o),
      .rsp_valid_o(frame_rsp_valid_o),
      .rsp_o(frame_rsp_o),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[4]),
      .wdata(core_wdata),
      .rdata(core_rdata)
  );
  // Bursts of one word: the first lane's.
  `RELAY(core_wdata, bus_wdata[4], '{data: 512'(core_wdata.data.data), strb: 64'(
                                                                        core_wdata.data.strb)})
  `RELAY(bus_rdata[4], core_rdata, bus_rdata[4].data[127:0])
  // Clients that only write, and those that only read.
  for (genvar i = 0; i < 2; i++) begin : g_one_way
    assign bus_rdata[i].ready   = 1'b1;
    assign bus_wdata[i+2].valid = 1'b0;
    assign bus_wdata[i+2].data  = '0;
    wire unused = &{1'b0, bus_rdata[i].valid, bus_rdata[i].data, bus_wdata[i+2].ready};
  end
  frame_memory #(
      .Clients(Clients),
      .Banks(DramBanks),
      .CasLatency(CasLatency)
  ) i_frame_memory (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .req(bus_req),
      .wdata(bus_wdata),
      .rdata(bus_rdata),
      .moves_o(frame_row),
      .ca_o(dram_ca_o),
      .dq_valid_o(dram_dq_valid_o),
      .dq_o(dram_dq_o),
      .dq_i(dram_dq_i)
  );

  // ---------------------------------------------------------------- counts
  logic [5:0] mac_event;
  assign mac_event = {
    mac_count.good,
    mac_count.fifo_full,
    no_buffer,
    mac_count.runt,
    mac_count.oversize,
    mac_count.bad_fcs
  };
  for (genvar i = 0; i < 6; i++) begin : g_mac_event
    count_cross i_count (
        .src_clk_i(mac_clk_i),
        .src_rst_i(mac_rst_i),
        .add_i(mac_event[i]),
        .dst_clk_i(core_clk_i),
        .dst_rst_i(core_rst_i),
        .count_o(mac_count_o[i])
    );
  end
  count_cross i_frame_rows (
      .src_clk_i(mem_clk_i),
      .src_rst_i(mem_rst_i),
      .add_i(frame_row),
      .dst_clk_i(core_clk_i),
      .dst_rst_i(core_rst_i),
      .count_o(frame_rows_o)
  );
endmodule

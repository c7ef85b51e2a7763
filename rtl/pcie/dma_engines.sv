// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// DMA of a device: the requests of all clients through one read and one write engine (host-nic paper, section II-E).
///
/// Wiring only: dma_mux where there are several clients (theirs is then `sel`; those of the mask `High` go first; latency 1
/// clock), dma_read, dma_write. The RAM and status ports go to all clients, who know theirs by `sel`; the rows they give are
/// ORed.
module dma_engines
  import pcie_pkg::*;
  import dma_pkg::*;
#(
    parameter int Reads = 1,  // clients
    parameter int Writes = 1,
    parameter logic [Reads-1:0] ReadHigh = '0,
    parameter logic [Writes-1:0] WriteHigh = '0,
    parameter int Tags = 256,
    parameter int Functions = 1,  // addresses name them (pcie_pkg)
    parameter type Sent = tlp_beat_t,  // of write_tlp
    parameter type Received = tlp_beat_t  // of cpl
) (
    input logic clk_i,
    input logic rst_i,
    input logic forget_i,  // with rst_i: the link is reset too, no completion will come (dma_read)
    input pcie_cfg_t cfg_i,
    input logic [31:0] timeout_cycles_i,  // of a read; 0: no limit
    input logic [15:0] overtaken_cycles_i,  // of a read that later ones have overtaken; 0: no limit

    // To pcie_endpoint: tlp_beat_t, what is written as beats of `Sent`, what is read as `Received`.
    stream_if.src read_tlp,
    stream_if.snk cpl,
    stream_if.src write_tlp,

    // Reads: dma_req_t of each client.
           stream_if.snk    read         [Reads],
    output ram_write_t      ram_write_o,
    output dma_status_t     read_status_o,
    output dma_read_count_t read_count_o,

    // Writes: dma_req_t of each client.
           stream_if.snk write         [Writes],
    output ram_read_t    ram_read_o,
    input  ram_row_t     ram_row_i,
    output dma_status_t  write_status_o
);
  `STREAM(dma_req_t, read_request)
  `STREAM(dma_req_t, write_request)
  if (Reads > 1) begin : g_read_mux
    dma_mux #(
        .N(Reads),
        .High(ReadHigh)
    ) i_mux (
        .clk_i,
        .rst_i,
        .in (read),
        .out(read_request)
    );
  end else begin : g_one_read
    assign read_request.valid = read[0].valid;
    assign read_request.data = read[0].data;
    assign read[0].ready = read_request.ready;
  end
  if (Writes > 1) begin : g_write_mux
    dma_mux #(
        .N(Writes),
        .High(WriteHigh)
    ) i_mux (
        .clk_i,
        .rst_i,
        .in (write),
        .out(write_request)
    );
  end else begin : g_one_write
    assign write_request.valid = write[0].valid;
    assign write_request.data = write[0].data;
    assign write[0].ready = write_request.ready;
  end
  dma_read #(
      .Tags(Tags),
      .Functions(Functions),
      .Received(Received)
  ) i_read (
      .clk_i,
      .rst_i,
      .forget_i,
      .cfg_i,
      .timeout_cycles_i,
      .overtaken_cycles_i,
      .req(read_request),
      .tlp(read_tlp),
      .cpl,
      .ram_o(ram_write_o),
      .status_o(read_status_o),
      .count_o(read_count_o)
  );
  dma_write #(
      .Beat(Sent),
      .Functions(Functions)
  ) i_write (
      .clk_i,
      .rst_i,
      .cfg_i,
      .req(write_request),
      .status_o(write_status_o),
      .ram_o(ram_read_o),
      .ram_i(ram_row_i),
      .tlp(write_tlp)
  );
endmodule

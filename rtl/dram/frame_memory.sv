// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The frame memory as its clients see it: the bus that they share (frame_bus) and the controller at the pins (sdram_ctrl), whose
/// headers say what each promises. Nothing of its own.
module frame_memory
  import dram_pkg::*;
#(
    parameter int Clients = 5,
    parameter int Banks = 8,
    parameter int CasLatency = 7
) (
    input logic clk_i,
    input logic rst_i,

    // Clients: bus_req_t, bus_row_t, row_t.
    stream_if.snk req[Clients],
    stream_if.snk wdata[Clients],
    stream_if.src rdata[Clients],
    output logic moves_o,  // up to four words are read or written

    // Pins, all registered.
    output dram_ca_t [DramSlots-1:0] ca_o,
    output logic [DramSlots-1:0] dq_valid_o,  // drives the data pins
    output dram_dq_t [DramSlots-1:0] dq_o,
    input logic [DramSlots-1:0][127:0] dq_i
);
  localparam int ClientW = Clients > 1 ? $clog2(Clients) : 1;

  `STREAM(bus_req_t, burst)
  `STREAM(bus_row_t, burst_wdata)
  logic [ClientW-1:0] burst_client, wclient, rclient;
  logic write, rvalid;
  row_t row;

  frame_bus #(
      .Clients(Clients),
      .Words(DramSlots),
      .W(bus_row_t)
  ) i_frame_bus (
      .clk_i,
      .rst_i,
      .req,
      .wdata,
      .rdata,
      .burst,
      .burst_client_o(burst_client),
      .burst_wdata,
      .wclient_i(wclient),
      .write_i(write),
      .rvalid_i(rvalid),
      .rclient_i(rclient),
      .rdata_i(row)
  );
  sdram_ctrl #(
      .Banks(Banks),
      .Clients(Clients),
      .CasLatency(CasLatency)
  ) i_sdram_ctrl (
      .clk_i,
      .rst_i,
      .burst,
      .burst_client_i(burst_client),
      .wdata(burst_wdata),
      .wclient_o(wclient),
      .write_o(write),
      .rvalid_o(rvalid),
      .rclient_o(rclient),
      .rdata_o(row),
      .moves_o,
      .ca_o,
      .dq_valid_o,
      .dq_o,
      .dq_i
  );
endmodule

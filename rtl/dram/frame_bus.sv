// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The bus between assists (and the cores' access) and the frame memory's controller, of `Words` words of 16 bytes a clock.
///
/// A client asks for a burst on `req` and gets the bus for all of it; clients take turns burst by burst. The data of its
/// write bursts go on `wdata`, in the order of its bursts (`strb` says which bytes are written; a burst begins in a beat of its own);
/// they may be offered before, with or after the request, but a beat that is late holds up all ports. Read
/// data come on `rdata`, in the order of the client's bursts, one beat a clock and without any back-pressure: a client asks
/// only for what it has room for and is always ready. All bursts are done in the order their requests were
/// taken, so a read sees every write taken before it. Clients that write should be neighbours, and those that read: the
/// bus loses clocks at each turn of direction. Latency: none on `req` and `wdata`. Reset drops what was taken.
module frame_bus
  import dram_pkg::*;
#(
    parameter int Clients = 5,
    parameter int Words = 1,  // a beat: 1 (bus_wdata_t) or 4 (bus_row_t)
    parameter type W = bus_wdata_t,
    localparam int ClientW = Clients > 1 ? $clog2(Clients) : 1
) (
    input logic clk_i,
    input logic rst_i,

    // Clients: bus_req_t, W, logic [128*Words-1:0].
    stream_if.snk req  [Clients],
    stream_if.snk wdata[Clients],
    stream_if.src rdata[Clients],

    // Controller: bursts with the client's number; it takes write data of `wclient_i` while `write_i`, and gives read data
    // to `rclient_i`.
    stream_if.src burst,
    output logic [ClientW-1:0] burst_client_o,
    stream_if.src burst_wdata,
    input logic [ClientW-1:0] wclient_i,
    input logic write_i,
    input logic rvalid_i,
    input logic [ClientW-1:0] rclient_i,
    input logic [128*Words-1:0] rdata_i
);
  arb_rr #(
      .T(bus_req_t),
      .N(Clients)
  ) i_turns (
      .clk_i,
      .rst_i,
      .in(req),
      .out(burst),
      .index_o(burst_client_o)
  );

  logic [Clients-1:0] wvalid;
  W wbeat[Clients];
  for (genvar i = 0; i < Clients; i++) begin : g_client
    assign wvalid[i] = wdata[i].valid;
    assign wbeat[i] = wdata[i].data;
    assign wdata[i].ready = burst_wdata.ready && wclient_i == ClientW'(i);
    assign rdata[i].valid = rvalid_i && rclient_i == ClientW'(i);
    assign rdata[i].data = rdata_i;
    `ASSERT(RoomForData, rdata[i].valid |-> rdata[i].ready)
  end
  assign burst_wdata.valid = write_i && wvalid[wclient_i];
  assign burst_wdata.data  = wbeat[wclient_i];

  `ASSERT(BurstFitsFrame, burst.valid |-> burst.data.beats inside {[1 : 128]})
endmodule

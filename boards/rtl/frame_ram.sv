// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frame memory in block RAM, in sdram_ctrl's place behind frame_bus: for a board without memory chips, or to do without them.
///
/// Bursts in order, a word of 16 bytes a clock and a clock between bursts; a read's first word comes two clocks after the burst was
/// taken. Holds `Bytes`, which repeat over all addresses. Never drops anything; reset drops the burst at hand, and leaves the contents.
module frame_ram
  import dram_pkg::*;
#(
    parameter  int Bytes   = 65536,
    parameter  int Clients = 3,
    localparam int ClientW = Clients > 1 ? $clog2(Clients) : 1
) (
    input logic clk_i,
    input logic rst_i,

    // bus_req_t: bursts, and whose they are.
    stream_if.snk burst,
    input logic [ClientW-1:0] burst_client_i,
    // bus_wdata_t: words of the write burst of `wclient_o`, wanted while `write_o`.
    stream_if.snk wdata,
    output logic [ClientW-1:0] wclient_o,
    output logic write_o,
    // Words read.
    output logic rvalid_o,
    output logic [ClientW-1:0] rclient_o,
    output logic [127:0] rdata_o
);
  localparam int WordW = $clog2(Bytes / BusBytes);
  if (2 ** WordW * BusBytes != Bytes || Bytes > 2 ** FrameAddrW) begin : g_bad_parameter
    $fatal(1, "frame_ram: Bytes %0d is not a power of two up to 2^%0d", Bytes, FrameAddrW);
  end
  bus_req_t   asked;
  bus_wdata_t word;
  assign asked = burst.data;
  assign word  = wdata.data;
  wire unused = &{1'b0, asked.addr[FrameAddrW-5:WordW]};

  logic busy_q, writes_q;
  logic [WordW-1:0] at_q;
  logic [7:0] left_q;
  wire reads = busy_q && !writes_q;
  wire moves = reads || (wdata.valid && wdata.ready);
  assign burst.ready = !busy_q;
  assign write_o = busy_q && writes_q;
  assign wdata.ready = write_o;

  ram_sdp #(
      .Width(8 * BusBytes),
      .Depth(Bytes / BusBytes),
      .Lanes(BusBytes)
  ) i_ram (
      .clk_i,
      .we_i(word.strb & {BusBytes{wdata.valid && write_o}}),
      .waddr_i(at_q),
      .wdata_i(word.data),
      .re_i(reads),
      .raddr_i(at_q),
      .rdata_o
  );

  always_ff @(posedge clk_i) begin
    rvalid_o  <= reads;
    rclient_o <= wclient_o;
    if (burst.valid && burst.ready) begin
      busy_q <= 1'b1;
      writes_q <= asked.write;
      at_q <= asked.addr[WordW-1:0];
      left_q <= asked.beats;
      wclient_o <= burst_client_i;
    end else if (moves) begin
      at_q   <= at_q + 1'b1;
      left_q <= left_q - 1'b1;
      if (left_q == 8'd1) busy_q <= 1'b0;
    end
    if (rst_i) begin
      busy_q   <= 1'b0;
      rvalid_o <= 1'b0;
    end
  end

  `ASSERT(BurstHasWords, burst.valid |-> asked.beats != '0)
endmodule

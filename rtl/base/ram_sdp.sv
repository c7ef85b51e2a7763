// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Simple dual-port RAM: one write port with lane enables, one read port.
///
/// Read latency 1 clock, `rdata_o` holds its value while `re_i` is low. A read of the word written in the same clock gives
/// the old value. Contents are not reset.
module ram_sdp #(
    parameter  int Width = 128,
    parameter  int Depth = 256,
    parameter  int Lanes = 1,                             // Width / Lanes bits have an enable each
    localparam int AddrW = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic             clk_i,
    input  logic [Lanes-1:0] we_i,
    input  logic [AddrW-1:0] waddr_i,
    input  logic [Width-1:0] wdata_i,
    input  logic             re_i,
    input  logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o
);
  if (Width % Lanes != 0) begin : g_bad_parameter
    $fatal(1, "ram_sdp: Width %0d is not a multiple of Lanes %0d", Width, Lanes);
  end
  localparam int LaneW = Width / Lanes;

  logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
    if (Lanes == 1) begin
      if (we_i[0]) `STORE(mem[waddr_i], wdata_i)
    end else begin
      if (|we_i) begin
        for (int i = 0; i < Lanes; i++) begin
          if (we_i[i]) `STORE(mem[waddr_i][i*LaneW+:LaneW], wdata_i[i*LaneW+:LaneW])
        end
      end
    end
  end
endmodule

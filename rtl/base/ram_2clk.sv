// SPDX-License-Identifier: Apache-2.0
/// RAM that one clock writes and another reads. Read latency 1 clock, `rdata_o` holds while `re_i` is low. A word must not be
/// read while it is written. Contents are not reset.
module ram_2clk #(
    parameter  int Width = 128,
    parameter  int Depth = 256,
    localparam int AddrW = $clog2(Depth)
) (
    input  logic             wclk_i,
    input  logic             we_i,
    input  logic [AddrW-1:0] waddr_i,
    input  logic [Width-1:0] wdata_i,
    input  logic             rclk_i,
    input  logic             re_i,
    input  logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o
);
  logic [Width-1:0] mem[Depth];
  always_ff @(posedge wclk_i) if (we_i) mem[waddr_i] <= wdata_i;
  always_ff @(posedge rclk_i) if (re_i) rdata_o <= mem[raddr_i];
endmodule

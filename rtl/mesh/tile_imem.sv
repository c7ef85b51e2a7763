// SPDX-License-Identifier: Apache-2.0
/// Instruction memory of a tile: a word a clock, in the clock after its address.
///
/// The word stays until the next `fetch_en_i`. An address outside answers with an error. Written by the boot port while the
/// core stands. Contents are not reset.
module tile_imem #(
    parameter  int Bytes = 32768,
    localparam int AddrW = $clog2(Bytes) - 2
) (
    input logic clk_i,
    input logic rst_i,

    // the core
    input  logic        fetch_en_i,
    input  logic [31:0] fetch_addr_i,
    output logic        fetch_valid_o,
    output logic [31:0] fetch_data_o,
    output logic        fetch_error_o,

    // the boot port, in words
    input logic             we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [     31:0] wdata_i
);
  ram_sdp #(
      .Width(32),
      .Depth(2 ** AddrW)
  ) i_ram (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i,
      .re_i   (fetch_en_i),
      .raddr_i(fetch_addr_i[2+:AddrW]),
      .rdata_o(fetch_data_o)
  );

  // Addresses come late in their clock: whether there is a word is asked in the next.
  logic [31:AddrW+2] above_q;
  assign fetch_error_o = above_q != '0;
  always_ff @(posedge clk_i) begin
    if (fetch_en_i) begin
      fetch_valid_o <= 1'b1;
      above_q <= fetch_addr_i[31:AddrW+2];
    end
    if (rst_i) fetch_valid_o <= 1'b0;
  end
endmodule

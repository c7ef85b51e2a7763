// SPDX-License-Identifier: Apache-2.0
/// Instruction memory, shared by the caches of `Ports` cores: 128 bits a clock, and 32 bits a clock from the host.
///
/// A request is taken with ready (round robin, one a clock), its 16 bytes come in the next clock on the bus that all ports
/// share, `rsp_valid_o` says whose they are. The host writes while the cores stand still: a word written in the clock in
/// which it is read may be the old one. Contents are not reset.
module imem #(
    parameter  int Bytes = 131072,
    parameter  int Ports = 6,
    localparam int AddrW = $clog2(Bytes) - 4,
    localparam int PortW = Ports > 1 ? $clog2(Ports) : 1
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    // the caches, in units of 16 bytes
    input  logic [Ports-1:0]            req_valid_i,
    input  logic [Ports-1:0][AddrW-1:0] req_addr_i,
    output logic [Ports-1:0]            req_ready_o,
    output logic [Ports-1:0]            rsp_valid_o,
    output logic [    127:0]            rsp_data_o,
    // the host, in words
    input  logic                        we_i,
    input  logic [AddrW+1:0]            waddr_i,
    input  logic [     31:0]            wdata_i
);
  logic [PortW-1:0] next_q, choice;
  wire any = req_valid_i != 0;

  // The first request at or after next_q, or else the first one.
  always_comb begin
    choice = '0;
    req_ready_o = '0;
    if (any) begin
      for (int i = Ports - 1; i >= 0; i--) if (req_valid_i[i]) choice = PortW'(i);
      for (int i = Ports - 1; i >= 0; i--)
      if (req_valid_i[i] && PortW'(i) >= next_q) choice = PortW'(i);
      req_ready_o[choice] = 1'b1;
    end
  end

  ram_sdp #(
      .Width(128),
      .Depth(Bytes / 16),
      .Lanes(4)
  ) i_ram (
      .clk_i,
      .we_i   (4'(we_i) << waddr_i[1:0]),
      .waddr_i(waddr_i[2+:AddrW]),
      .wdata_i({4{wdata_i}}),
      .re_i   (any),
      .raddr_i(req_addr_i[choice]),
      .rdata_o(rsp_data_o)
  );

  always_ff @(posedge clk_i) begin
    rsp_valid_o <= req_ready_o;
    if (any) next_q <= choice == PortW'(Ports - 1) ? '0 : choice + 1'b1;
    if (rst_i) begin
      rsp_valid_o <= '0;
      next_q <= '0;
    end
  end
endmodule

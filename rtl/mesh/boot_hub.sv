// SPDX-License-Identifier: Apache-2.0
/// The grid's end of the boot port: gives each access to its unit, and is the unit of the whole (boot_whole).
///
/// Units: `Tiles` tiles, then `Slots` slots; addresses as boot_pkg says. Pins are those of reg_if, flat: the hub is a model of
/// its own in simulation. All outputs come from registers. An access to no unit reads 0 and pulses `unmapped_o`.
module boot_hub
  import boot_pkg::*, mesh_pkg::word_t;
#(
    parameter  int Cols  = 4,
    parameter  int Rows  = 4,
    localparam int Tiles = Cols * Rows,
    localparam int Slots = 2 * (Cols + Rows),
    localparam int Units = Tiles + Slots
) (
    input logic clk_i,
    input logic rst_i,

    // The boot port (reg_if).
    input  logic                  boot_req_i,
    input  logic                  boot_write_i,
    input  logic  [BootAddrW-1:0] boot_addr_i,
    input  word_t                 boot_wdata_i,
    output logic                  boot_ack_o,
    output word_t                 boot_rdata_o,
    output logic                  unmapped_o,

    // Units: the offset in the unit's region goes to all.
    output logic  [Units-1:0] unit_req_o,
    output logic              unit_write_o,
    output logic  [UnitW-1:0] unit_addr_o,
    output word_t             unit_wdata_o,
    input  logic  [Units-1:0] unit_ack_i,
    input  word_t [Units-1:0] unit_rdata_i,

    output logic tiles_go_o,
    output logic slots_go_o
);
  typedef logic [Units:0][BootAddrW-1:0] addresses_t;
  function automatic addresses_t bases();
    for (int i = 0; i <= Units; i++) begin
      automatic int unit = i < Tiles ? i : i == Units ? WholeUnit : FirstSlot + i - Tiles;
      bases[i] = BootAddrW'(unit << UnitW);
    end
  endfunction
  reg_if #(.AddrW(BootAddrW)) boot ();
  reg_if #(.AddrW(BootAddrW)) unit[Units+1] ();
  assign boot.req = boot_req_i;
  assign boot.write = boot_write_i;
  assign boot.addr = boot_addr_i;
  assign boot.wdata = boot_wdata_i;
  assign boot.wstrb = '1;
  assign boot_ack_o = boot.ack;
  assign boot_rdata_o = boot.rdata;
  reg_demux #(
      .N    (Units + 1),
      .AddrW(BootAddrW),
      .Base (bases()),
      .Size ({(Units + 1) {BootAddrW'(1 << UnitW)}})
  ) i_demux (
      .clk_i,
      .rst_i,
      .in (boot),
      .out(unit),
      .unmapped_o
  );
  for (genvar u = 0; u < Units; u++) begin : g_unit
    assign unit_req_o[u] = unit[u].req;
    assign unit[u].ack   = unit_ack_i[u];
    assign unit[u].rdata = unit_rdata_i[u];
  end
  assign unit_write_o = unit[0].write;
  assign unit_addr_o  = unit[0].addr[UnitW-1:0];
  assign unit_wdata_o = unit[0].wdata;
  boot_whole #(
      .Cols(Cols),
      .Rows(Rows)
  ) i_whole (
      .clk_i,
      .rst_i,
      .boot(unit[Units]),
      .tiles_go_o,
      .slots_go_o
  );
endmodule

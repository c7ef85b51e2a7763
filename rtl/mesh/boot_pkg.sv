// SPDX-License-Identifier: Apache-2.0
/// Addresses of the boot port: a unit (tile, edge slot, the whole) has 256 kB.
///
/// Unit t < 128: tile t = y * columns + x. Unit 128 + s: edge slot s: its settings and counters (`Slot*` of mesh_pkg), by word.
/// Slots are counted from the north-west along the north side, down the east side, along the south side from the west, down
/// the west side. Unit 255: the whole, by word: `Whole*`.
package boot_pkg;
  localparam int UnitW = 18;  // bits of an address within a unit
  localparam int BootAddrW = 26;
  localparam int FirstSlot = 128;
  localparam int WholeUnit = 255;

  /// Regions of a tile, bits 17:16.
  localparam logic [17:0] TileImem = 18'h00000;
  localparam logic [17:0] TileSwitch = 18'h10000;
  localparam logic [17:0] TileRam = 18'h20000;
  localparam logic [17:0] TileRegs = 18'h30000;

  /// Registers of a tile, by word.
  localparam logic [5:0] RegControl = 6'd0;  // bit 0 the core runs, bit 1 the switch, bit 2: words of the GDN have a deep FIFO before the core
  localparam logic [5:0] RegTrap = 6'd1;  // trap_e
  localparam logic [5:0] RegTrapPc = 6'd2;
  localparam logic [5:0] RegSwitch = 6'd3;  // 17 halted, 16 waiting, 15:0 pc
  localparam logic [5:0] RegSwitchNeeds = 6'd4;  // by port: 23:18 no room 2, no room 1, no word 2, 5:0 no word 1
  localparam logic [5:0] RegCache = 6'd5;  // 3 of them: accesses, lines read, lines written
  localparam logic [5:0] RegUses = 6'd8;  // read only, ClockUses of core_pkg: clocks by clock_use_e
  localparam logic [5:0] RegMap = 6'd16;  // 16, write only: memory of a region: bit 31 there is one, 10:0 place_t
  localparam logic [5:0] RegStatic = 6'd32;  // 10: words sent by the switch, network 1 then 2, by port_e
  localparam logic [5:0] RegGdn = 6'd42;  // 5: words sent by the router, by port_e
  localparam logic [5:0] RegMdn = 6'd47;  // 5
  localparam logic [5:0] RegTurns = 6'd52;  // of the GDN's router: messages in one turn of each input, 4 bits by port_e; 0 is 1

  /// Registers of the whole.
  localparam logic [5:0] WholeGo = 6'd0;  // bit 0: tiles run, bit 1: edge slots run
  localparam logic [5:0] WholeSize = 6'd1;  // read only: 15:8 rows, 7:0 columns
endpackage

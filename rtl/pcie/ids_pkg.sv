// SPDX-License-Identifier: Apache-2.0
/// Who a card says it is in its configuration space: what the bench answers, drivers look for and boards are made with. The vendor is
/// nobody's; a card that is sold has its maker's. Classes: PCI Code and ID Assignment Specification.
package ids_pkg;
  localparam logic [15:0] IdVendor = 16'h1234;
  localparam logic [15:0] IdHostNic = 16'h0001;
  localparam logic [15:0] IdCoreNic = 16'h0002;
  localparam logic [15:0] IdCapture = 16'h0010;  // of its first link; those of the others follow
  localparam logic [15:0] IdPcieBench = 16'h0020;
  localparam logic [15:0] IdDirectRouter = 16'hd1ec;

  localparam logic [23:0] ClassEthernet = 24'h020000;
  localparam logic [23:0] ClassNetwork = 24'h028000;  // another kind of network controller
  localparam logic [23:0] ClassOther = 24'hff0000;
endpackage

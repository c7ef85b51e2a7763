// SPDX-License-Identifier: Apache-2.0
/// The pins towards a PCIe hard block, of every kind there is: a device is built for one of them (pcie_pins).
package pins_pkg;
  import pcie_pkg::*;
  import usplus_pkg::*;
  import ptile_pkg::*;

  // Emery's own; an UltraScale+ block's with straddle and without; Intel P-tile's.
  localparam int PinsIdeal = 0, PinsUsPlus = 1, PinsUsPlusPlain = 2, PinsPTile = 3;

  /// What the hard block drives. Not packed, so that a bench has each pin by its name.
  typedef struct {
    pcie_in_t   ideal;
    usplus_in_t usplus;
    ptile_in_t  ptile;
  } pcie_pins_in_t;

  /// What the logic drives.
  typedef struct {
    pcie_out_t   ideal;
    usplus_out_t usplus;
    ptile_out_t  ptile;
  } pcie_pins_out_t;
endpackage

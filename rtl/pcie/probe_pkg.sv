// SPDX-License-Identifier: Apache-2.0
/// What an instrument that only moves data over PCI Express is told: transfers of one length, at places of a window in host
/// memory that it walks through, and what its engines cost.
package probe_pkg;
  localparam int ProbeBeatBytes = 64;
  localparam int ProbeMost = 4096;  // bytes of a transfer
  localparam int ProbeSlots = 64;  // transfers in flight, at the most
  localparam int ProbeDelays = 64;

  /// Of a transfer's data; the last beat is filled up.
  typedef struct packed {
    logic [8*ProbeBeatBytes-1:0] data;
    logic sop;
    logic eop;
  } probe_beat_t;

  /// Times in sixteenths of a clock: each beat of 64 bytes is copied between the engine's RAM and the user's side in `beat`,
  /// each 256 bytes begun cost `piece` more and each transfer `setup`; two transfers begin at least `apart` from each other.
  typedef struct packed {
    logic [11:0] beat;
    logic [11:0] piece;
    logic [11:0] setup;
    logic [11:0] apart;
  } probe_cost_t;

  /// One direction. Change it only while nothing is in flight.
  typedef struct packed {
    logic        enable;
    logic [12:0] len;        // bytes of a transfer, 1 ... ProbeMost
    logic [63:0] base;       // of the window
    logic [31:0] window;     // bytes: a multiple of the distance between two places
    logic [31:0] step;       // from one transfer's place to the next one's, below `window`
    logic [6:0]  in_flight;  // transfers, 1 ... ProbeSlots
    logic [5:0]  delay;      // clocks from a transfer's end to its notice
    probe_cost_t cost;
  } probe_cfg_t;
endpackage

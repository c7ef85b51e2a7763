// SPDX-License-Identifier: Apache-2.0
`include "cmac_ports.svh"
/// The other MAC's core, which is the same.
module cmac_usplus_1 (
    `CMAC_PORTS
);
  cmac_usplus_0 i_core (.*);
endmodule

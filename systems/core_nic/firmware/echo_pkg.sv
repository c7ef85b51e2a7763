// SPDX-License-Identifier: Apache-2.0
/// Configuration words of a core-nic without a host, which answers the network itself (variant `echo`): bytes in the order of the wire,
/// the first one lowest.
package echo_pkg;
  localparam int ConfigMacLow = 0;  // the first four bytes of its Ethernet address
  localparam int ConfigMacHigh = 1;  // the other two
  localparam int ConfigIp = 2;  // its IPv4 address
  localparam int ConfigWords = 3;
endpackage

// SPDX-License-Identifier: Apache-2.0
/// GMII (IEEE 802.3, clause 35): what goes between a 1G MAC and its PHY in a clock, and the check sequence over its bytes.
package gmii_pkg;
  typedef struct packed {
    logic       valid;  // carrier, from the first byte of the preamble to the last of the FCS
    logic       err;
    logic [7:0] data;
  } gmii_t;

  localparam logic [7:0] Preamble = 8'h55;
  localparam logic [7:0] StartDelimiter = 8'hd5;
  localparam int PreambleBytes = 7;
  localparam int FcsBytes = 4;
  localparam int GapBytes = 12;

  /// The remainder of CRC-32 (IEEE 802.3, 3.2.9) a byte later; bit 0 is the first one sent. A frame begins with CrcFresh.
  function automatic logic [31:0] crc_byte(logic [31:0] crc, logic [7:0] data);
    crc_byte = crc ^ {24'd0, data};
    for (int i = 0; i < 8; i++)
    crc_byte = crc_byte[0] ? (crc_byte >> 1) ^ 32'hedb88320 : crc_byte >> 1;
  endfunction
  localparam logic [31:0] CrcFresh = '1;
  localparam logic [31:0] CrcResidue = 32'hdebb20e3;  // over a frame with its FCS
endpackage

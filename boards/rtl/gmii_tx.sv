// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frames to a PHY at GMII: the byte stream of byte_unpack with preamble, FCS and the gap between frames.
///
/// 1 Gb/s only: a byte a clock. A frame of N bytes takes N + 24 clocks; it has to be offered without gaps from its first byte to
/// its last and to be long enough, 60 bytes. One whose last byte has `err`, or whose bytes fail to come, ends
/// with TX_ER and a wrong FCS; of the latter what is left is sent as a frame of its own. Outputs are registered. Reset ends the frame at once.
module gmii_tx
  import gmii_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic byte_valid_i,
    output logic byte_ready_o,
    input eth_pkg::byte_beat_t byte_i,
    output gmii_t gmii_o
);
  typedef enum logic [2:0] {
    Idle,
    Start,  // preamble and delimiter
    Data,
    Fcs,
    Gap
  } state_e;
  state_e state_q;
  logic [3:0] count_q;  // clocks in this state
  logic [31:0] crc_q;
  logic spoilt_q;
  wire [31:0] fcs = spoilt_q ? crc_q : ~crc_q;
  wire last = byte_i.eop || !byte_valid_i;
  assign byte_ready_o = state_q == Data;

  always_ff @(posedge clk_i) begin
    gmii_o  <= '0;
    count_q <= count_q + 1'b1;
    unique case (state_q)
      Idle: begin
        count_q <= '0;
        spoilt_q <= 1'b0;
        crc_q <= CrcFresh;
        if (byte_valid_i) state_q <= Start;
      end
      Start: begin
        gmii_o <= '{
            valid: 1'b1,
            err: 1'b0,
            data: count_q == 4'(PreambleBytes) ? StartDelimiter : Preamble
        };
        if (count_q == 4'(PreambleBytes)) state_q <= Data;
      end
      Data: begin
        gmii_o <= '{valid: 1'b1, err: last && (byte_i.err || !byte_valid_i), data: byte_i.data};
        crc_q <= crc_byte(crc_q, byte_i.data);
        spoilt_q <= byte_i.err || !byte_valid_i;
        count_q <= '0;
        if (last) state_q <= Fcs;
      end
      Fcs: begin
        gmii_o <= '{valid: 1'b1, err: 1'b0, data: fcs[8*count_q[1:0]+:8]};
        if (count_q == 4'(FcsBytes - 1)) begin
          count_q <= '0;
          state_q <= Gap;
        end
      end
      default: begin  // a clock of the gap is Idle's
        if (count_q == 4'(GapBytes - 2)) state_q <= Idle;
      end
    endcase
    if (rst_i) begin
      gmii_o  <= '0;
      state_q <= Idle;
    end
  end

  `ASSERT(NoGapInFrame, state_q == Data |-> byte_valid_i)
endmodule

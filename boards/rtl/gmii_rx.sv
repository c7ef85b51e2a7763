// SPDX-License-Identifier: Apache-2.0
/// Frames out of what a PHY gives at GMII: without preamble and FCS, as the byte stream that byte_pack takes.
///
/// 1 Gb/s only: a byte a clock, and receive cannot wait. A frame begins behind the start delimiter, however much of the preamble is
/// left; a carrier without one is no frame, and leaves no trace. Five bytes are held back, so that the last one before the FCS goes
/// out with `eop`, in the clock in which the carrier ends; `err` with it says that the FCS is wrong, that the PHY has said RX_ER
/// in the frame, or that there were not even five bytes (then it comes with one byte of any value, so that it can be counted).
/// A clock without carrier is gap enough. Reset drops the frame that is coming in, up to the end of its carrier.
module gmii_rx
  import gmii_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input gmii_t gmii_i,
    output logic byte_valid_o,
    output eth_pkg::byte_beat_t byte_o
);
  localparam int Held = FcsBytes + 1;
  typedef enum logic [1:0] {
    Idle,  // no carrier, or its preamble
    Inside,
    Skip  // to the end of the carrier
  } state_e;
  state_e state_q;
  logic [Held-1:0][7:0] held_q;  // the oldest is the last
  logic [2:0] count_q;
  logic sent_q;  // a byte of this frame
  logic bad_q;
  logic [31:0] crc_q;

  wire full = count_q == 3'(Held);
  wire ends = state_q == Inside && !gmii_i.valid;
  always_ff @(posedge clk_i) begin
    byte_valid_o <= ends || (state_q == Inside && full);
    byte_o <= '{
        data: held_q[Held-1],
        sop: !sent_q,
        eop: ends,
        err: ends && (!full || bad_q || crc_q != CrcResidue)
    };
    if (!gmii_i.valid) state_q <= Idle;
    else if (state_q == Idle && gmii_i.data == StartDelimiter && !gmii_i.err) state_q <= Inside;
    else if (state_q == Idle && (gmii_i.data != Preamble || gmii_i.err)) state_q <= Skip;
    if (state_q == Inside) begin
      held_q <= {held_q[Held-2:0], gmii_i.data};
      crc_q  <= crc_byte(crc_q, gmii_i.data);
      bad_q  <= bad_q || gmii_i.err;
      if (full) sent_q <= 1'b1;
      else count_q <= count_q + 1'b1;
    end else begin
      crc_q   <= CrcFresh;
      bad_q   <= 1'b0;
      sent_q  <= 1'b0;
      count_q <= '0;
    end
    if (rst_i) begin
      state_q <= Skip;
      byte_valid_o <= 1'b0;
    end
  end
endmodule

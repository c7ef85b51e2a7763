// SPDX-License-Identifier: Apache-2.0
/// CRC-32 of Ethernet frames (IEEE 802.3, 3.2.9) that come as words of eight bytes, by tables of exclusive ors.
///
/// In each clock with `valid_i` a word whose first `len_i` bytes count, all eight but in the frame's last (0: the frame ended with the
/// word before). Six clocks after that of a frame's last word `done_o` is high and `crc_o` its remainder, first bit in bit 0, as the FCS is
/// sent when it is complemented; over a frame with its FCS it is Residue. A frame may follow the other at once. The loop over the
/// remainder is one clock; a last word of four, two and one bytes takes a clock for each. Reset forgets what is under way.
module crc32_words (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        valid_i,
    input  logic        sop_i,
    input  logic        eop_i,
    input  logic [63:0] data_i,
    input  logic [ 3:0] len_i,
    output logic        done_o,
    output logic [31:0] crc_o
);
  typedef logic [31:0] crc_t;

  /// The remainder after so many bits of zeros.
  function automatic crc_t shifted(crc_t crc, int bits);
    for (int i = 0; i < bits; i++) crc = crc[0] ? (crc >> 1) ^ 32'hedb88320 : crc >> 1;
    return crc;
  endfunction

  /// Row `b`: which of `width` input bits make bit `b` of the remainder, when the first bit in has `bits` to go.
  typedef logic [31:0][63:0] table_t;
  function automatic table_t rows(int bits, int width);
    rows = '0;
    for (int i = 0; i < width; i++) begin
      // Bit i of the input meets bit 0 of the remainder after i shifts; what it leaves is shifted on.
      crc_t column;
      column = i < 32 ? shifted(32'd1 << i, bits) : shifted(32'd1, bits - i);
      for (int b = 0; b < 32; b++) rows[b][i] = column[b];
    end
  endfunction
  localparam table_t Eight = rows(
      64, 64
  ), Four = rows(
      32, 32
  ), Two = rows(
      16, 32
  ), One = rows(
      8, 32
  );

  function automatic crc_t times(table_t by, logic [63:0] value);
    for (int b = 0; b < 32; b++) times[b] = ^(by[b] & value);
  endfunction
  localparam crc_t Fresh = times(Eight, 64'hffffffff);  // of a frame's start, eight bytes on

  // 1: what a whole word adds. 2: the remainder after it, or before it. 3: one of these. 4 to 6: the rest of the last word.
  crc_t added_q, state_q, before_q, from_q, four_q, two_q;
  logic [63:0] word_q[5:1];
  logic [ 3:0] len_q [5:1];
  logic sop_q, valid_q;
  logic [5:1] last_q;
  crc_t base;
  assign base = sop_q ? '1 : state_q;

  always_ff @(posedge clk_i) begin
    added_q <= times(Eight, data_i);
    valid_q <= valid_i;
    sop_q <= sop_i;
    word_q[1] <= data_i;
    len_q[1] <= len_i;
    if (valid_q) state_q <= (sop_q ? Fresh : times(Eight, 64'(state_q))) ^ added_q;
    before_q <= base;
    word_q[2] <= word_q[1];
    len_q[2] <= len_q[1];
    from_q <= len_q[2][3] ? state_q : before_q;
    word_q[3] <= word_q[2];
    len_q[3] <= len_q[2];
    four_q <= len_q[3][2] ? times(Four, 64'(from_q ^ word_q[3][31:0])) : from_q;
    word_q[4] <= len_q[3][2] ? word_q[3] >> 32 : word_q[3];
    len_q[4] <= len_q[3];
    two_q <= len_q[4][1] ? times(Two, 64'(four_q ^ {16'd0, word_q[4][15:0]})) : four_q;
    word_q[5] <= len_q[4][1] ? word_q[4] >> 16 : word_q[4];
    len_q[5] <= len_q[4];
    crc_o <= len_q[5][0] ? times(One, 64'(two_q ^ {24'd0, word_q[5][7:0]})) : two_q;
    {done_o, last_q} <= {last_q, valid_i && eop_i};
    if (rst_i) begin
      {done_o, last_q} <= '0;
      valid_q <= 1'b0;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
/// bank: any one word, whatever is done to it and to others clock by clock, is what the accesses to it made it one after the
/// other: an access is atomic. Bit by bit: Update clears exactly the ones from its first bit to the first zero, and answers
/// how many; set (Or) sets its bits only; nothing else is skipped, repeated or touched.
module bank_formal
  import core_pkg::*;
(
    input logic           clk_i,
    input logic           rst_i,
    input logic           valid_i,
    input mem_op_e        op_i,
    input logic           index_i,
    input logic    [31:0] wdata_i,
    input logic    [ 3:0] be_i,
    input logic           watched_i,  // the word looked at
    input logic    [ 4:0] bit_i       // and the bit
);
  `FORMAL_BEGIN
  localparam int Words = 2;
  mem_req_t req;
  assign req = '{op: op_i, addr: {29'b0, index_i, 2'b0}, wdata: wdata_i, be: be_i};
  logic [31:0] rdata;
  bank #(
      .Words(Words)
  ) dut (
      .clk_i,
      .rst_i,
      .valid_i,
      .req_i  (req),
      .rdata_o(rdata)
  );

  // The word looked at is known from the first Store or Swap of all of it on; from then on by what is answered.
  logic watched_q, asked_q, known_q;
  logic [4:0] bit_q;
  mem_op_e op_q;
  logic [31:0] wdata_q;
  logic [3:0] be_q;
  logic [31:0] word_q, word;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    bit_q <= bit_i;
    asked_q <= started_q && valid_i && index_i == watched_i;
    if (valid_i && index_i == watched_i) begin
      op_q <= op_i;
      wdata_q <= wdata_i;
      be_q <= be_i;
    end
    if (asked_q) word_q <= word;
    known_q <= started_q && (known_q || (asked_q && (op_q == Swap || (op_q == Store && be_q == '1))));
  end

  // What an access leaves, and what Update clears, said bit by bit.
  logic [5:0] cleared;
  logic going;
  always_comb begin
    word = word_q;
    cleared = '0;
    going = 1'b1;
    case (op_q)
      Store: for (int i = 0; i < 32; i++) if (be_q[i/8]) word[i] = wdata_q[i];
      Swap: word = wdata_q;
      Add: word = word_q + wdata_q;
      And: word = word_q & wdata_q;
      Or: word = word_q | wdata_q;
      Xor: word = word_q ^ wdata_q;
      Min: word = $signed(word_q) > $signed(wdata_q) ? wdata_q : word_q;
      Max: word = $signed(word_q) < $signed(wdata_q) ? wdata_q : word_q;
      MinU: word = word_q > wdata_q ? wdata_q : word_q;
      MaxU: word = word_q < wdata_q ? wdata_q : word_q;
      Update:
      for (int i = 0; i < 32; i++) begin
        if (i >= 32'(wdata_q[4:0]) && going) begin
          going   = word_q[i];
          word[i] = 1'b0;
          cleared += 6'(going);
        end
      end
      default: ;
    endcase
  end

  always_comb begin
    if (started_q) begin
      assume (watched_i == watched_q && bit_i == bit_q);
      assume (op_i <= Update);
    end
    if (started_q && known_q && asked_q) begin
      if (op_q != Store) assert (rdata == word_q);
      assert (dut.next == word);
      cover (op_q == Update && cleared == 3);
      cover (op_q == Update && cleared == 32);
      cover (op_q == MinU && dut.again);
    end
    // For the induction: where the word is.
    if (started_q && known_q) begin
      assert (dut.valid_q || !asked_q);
      if (asked_q)
        assert (dut.index_q == watched_q && dut.op_q == op_q && dut.wdata_q == wdata_q && dut.be_q == be_q);
        else if (dut.valid_q) assert (dut.index_q != watched_q);
      if (asked_q) assert (dut.old == word_q);
      if (!asked_q) assert (dut.i_ram.mem[watched_q] == word_q);
    end
  end
endmodule

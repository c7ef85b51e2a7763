// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// A scratchpad bank: RAM that does read-modify-write itself (core-nic paper, sections 3.3 and 4).
///
/// Takes any access of `mem_op_e` every clock and answers in the next one with the old word. Each access sees what all before it left, also when they follow each other clock by clock on one
/// word. Never stalls. `addr` is a byte address inside the bank (its two lowest bits are ignored). The contents are not
/// reset.
module bank
  import core_pkg::*;
#(
    parameter int Words = 16384,
    parameter bit Early = 1'b0  // requests come early in their clock: with them is worked out whether the word is that of the access before
) (
    input  logic            clk_i,
    input  logic            rst_i,
    // An access.
    input  logic            valid_i,
    input  mem_req_t        req_i,
    // Its answer, a clock later.
    output logic     [31:0] rdata_o
);
  localparam int AddrW = Words > 1 ? $clog2(Words) : 1;
  wire [AddrW-1:0] index = req_i.addr[2+:AddrW];

  // The access read from the RAM a clock ago, the one before it, and the word that was written a clock ago.
  logic valid_q, before_valid_q;
  mem_op_e op_q;
  logic [AddrW-1:0] index_q, before_q;
  logic [31:0] wdata_q, written_q, read, old, next;
  logic [3:0] be_q;

  ram_sdp #(
      .Width(32),
      .Depth(Words)
  ) i_ram (
      .clk_i,
      .we_i   (valid_q && op_q != Load),
      .waddr_i(index_q),
      .wdata_i(next),
      .re_i   (valid_i),
      .raddr_i(index),
      .rdata_o(read)
  );

  // The RAM gives the word as it was before a write in the same clock.
  logic again_q;
  always_ff @(posedge clk_i) if (valid_i) again_q <= valid_q && index_q == index;
  wire again = Early ? again_q : before_valid_q && before_q == index_q;
  assign old = again ? written_q : read;

  // Update adds a one at its first bit, which clears the ones from there on and sets the zero behind them.
  wire [31:0] sum = old + (op_q == Update ? 32'd1 << wdata_q[4:0] : wdata_q);
  assign rdata_o = old;
  always_comb begin
    next = old;
    if (valid_q) begin
      case (op_q)
        Store: for (int i = 0; i < 4; i++) if (be_q[i]) next[8*i+:8] = wdata_q[8*i+:8];
        Swap: next = wdata_q;
        Add: next = sum;
        And: next = old & wdata_q;
        Or: next = old | wdata_q;
        Xor: next = old ^ wdata_q;
        Min: if ($signed(wdata_q) < $signed(old)) next = wdata_q;
        Max: if ($signed(wdata_q) > $signed(old)) next = wdata_q;
        MinU: if (wdata_q < old) next = wdata_q;
        MaxU: if (wdata_q > old) next = wdata_q;
        Update: next = old & sum;
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= valid_i;
    if (valid_i) begin
      op_q <= req_i.op;
      index_q <= index;
      wdata_q <= req_i.wdata;
      be_q <= req_i.be;
      before_valid_q <= valid_q;
      before_q <= index_q;
      written_q <= next;
    end
    if (rst_i) valid_q <= 1'b0;
  end

  `ASSERT(IndexInRange, valid_i |-> 32'(index) < Words)
endmodule

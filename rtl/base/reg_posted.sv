// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// When a register master hears of a write that goes on by itself: at once, as long as what it sends next would find a place.
///
/// `ack_o` follows `req_i` in the clock of a write where there is `room_i` for another access behind it, else comes when there is:
/// `free_i` says so of a write that has waited for it. Reads are not answered here. One access at a time. Reset forgets the write that waits.
module reg_posted (
    input  logic clk_i,
    input  logic rst_i,
    input  logic req_i,
    input  logic write_i,
    input  logic room_i,
    input  logic free_i,
    output logic ack_o
);
  logic owed_q;
  wire  posted = req_i && write_i;
  assign ack_o = (posted && room_i) || (owed_q && free_i);
  always_ff @(posedge clk_i) owed_q <= !rst_i && ((posted && !room_i) || (owed_q && !free_i));

  `ASSERT(OneAccess, req_i |-> !owed_q)
endmodule

// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Block counts of one ring: opened, closed, and returned by the consumer.
///
/// Always returned <= closed <= opened <= returned + 2^log_blocks_i, with opened - closed at most 1 (all modulo 2^32;
/// proved in cap_ring_count_formal.sv). `open_i` opens a block and is allowed only while `room_o` is high and none is open;
/// `close_i` closes it. A returned count from the consumer that is not from `returned` to `closed` is refused and
/// `refused_o` is high for a clock. `start_i` clears all when no block is open. Counts change in the next clock.
module cap_ring_count (
    input logic       clk_i,
    input logic       rst_i,
    input logic       start_i,
    input logic [4:0] log_blocks_i, // 0 ... 16, does not change while capture is on

    // From the packer.
    input  logic open_i,
    input  logic close_i,
    output logic room_o,

    // From the consumer.
    input  logic        return_i,
    input  logic [31:0] count_i,
    output logic        refused_o,

    output logic [31:0] opened_o,
    output logic [31:0] closed_o,
    output logic [31:0] returned_o
);
  logic open_q;
  logic [31:0] opened_q, returned_q;
  wire [31:0] closed = opened_q - 32'(open_q);
  wire accepted = count_i - returned_q <= closed - returned_q;

  assign opened_o = opened_q;
  assign closed_o = closed;
  assign returned_o = returned_q;
  assign room_o = !open_q && (opened_q - returned_q) < 32'd1 << log_blocks_i;

  always_ff @(posedge clk_i) begin
    refused_o <= return_i && !accepted && !rst_i;
    if (return_i && accepted) returned_q <= count_i;
    if (open_i) begin
      opened_q <= opened_q + 1'b1;
      open_q   <= 1'b1;
    end
    if (close_i) open_q <= 1'b0;
    if (rst_i || (start_i && !open_q)) begin
      opened_q   <= '0;
      returned_q <= '0;
      open_q     <= 1'b0;
    end
  end

  `ASSERT(OpensWhenThereIsRoom, open_i |-> room_o)
  `ASSERT(ClosesWhatIsOpen, close_i |-> open_q)
endmodule

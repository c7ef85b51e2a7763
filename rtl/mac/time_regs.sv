// SPDX-License-Identifier: Apache-2.0
/// The time as three 32-bit words that software reads one after the other, the low one of the whole nanoseconds first.
///
/// The clock in which the low word is read (`latch_i`; `swacc` of its register) takes the high part of that same time and its
/// fraction; `hi_o` and `fraction_o` hold them until the next read of the low word, whatever carries into it between. `lo_o` is combinational, the others right
/// from the clock after. Undefined until the first read.
module time_regs
  import eth_pkg::*;
(
    input  logic             clk_i,
    input  ptp_time_t        time_i,
    input  logic      [31:0] fraction_i,  // ns * 2^-32
    input  logic             latch_i,
    output logic      [31:0] lo_o,
    output logic      [31:0] hi_o,
    output logic      [31:0] fraction_o
);
  logic [TimeW-33:0] hi_q;
  always_ff @(posedge clk_i) begin
    if (latch_i) {hi_q, fraction_o} <= {time_i[TimeW-1:32], fraction_i};
  end
  assign lo_o = time_i[31:0];
  assign hi_o = 32'(hi_q);
endmodule

// SPDX-License-Identifier: Apache-2.0
/// The time as two 32-bit words that software reads one after the other, the low one first.
///
/// The clock in which the low word is read (`latch_i`; `swacc` of its register) takes the high part of that same time;
/// `hi_o` holds it until the next read of the low word, whatever carries into it between. `lo_o` is combinational, `hi_o` right
/// from the clock after. Undefined until the first read.
module time_regs
  import eth_pkg::*;
(
    input  logic             clk_i,
    input  ptp_time_t        time_i,
    input  logic             latch_i,
    output logic      [31:0] lo_o,
    output logic      [31:0] hi_o
);
  logic [TimeW-33:0] hi_q;
  always_ff @(posedge clk_i) if (latch_i) hi_q <= time_i[TimeW-1:32];
  assign lo_o = time_i[31:0];
  assign hi_o = 32'(hi_q);
endmodule

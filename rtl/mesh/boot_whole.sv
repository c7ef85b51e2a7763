// SPDX-License-Identifier: Apache-2.0
/// Boot port of the whole: starts and stops everything in one clock, and says how large the grid is. Answers in the next clock.
module boot_whole
  import boot_pkg::*;
#(
    parameter int Cols = 4,
    parameter int Rows = 4
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave boot,

    output logic tiles_go_o,
    output logic slots_go_o
);
  wire [5:0] register = boot.addr[7:2];
  always_ff @(posedge clk_i) begin
    boot.ack   <= boot.req && !rst_i;
    boot.rdata <= '0;
    if (register == WholeGo) boot.rdata <= {30'd0, slots_go_o, tiles_go_o};
    if (register == WholeSize) boot.rdata <= {16'd0, 8'(Rows), 8'(Cols)};
    if (boot.req && boot.write && register == WholeGo) {slots_go_o, tiles_go_o} <= boot.wdata[1:0];
    if (rst_i) {slots_go_o, tiles_go_o} <= '0;
  end
endmodule

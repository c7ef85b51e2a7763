// SPDX-License-Identifier: Apache-2.0
/// Where the clocks of the cores went: for each core how many were of each kind of clock_use_e (core-nic paper, section 6.1).
///
/// 64 bytes a core: words 0-7 the counts modulo 2^32, which sum to the clocks; word 8 the trap (trap_e), 9 its address, 10 the
/// clocks lost to bank conflicts as the crossbar saw them. Read only; an answer takes a clock.
/// `trapped_o`: the cores that have trapped.
module core_counters
  import core_pkg::*;
#(
    parameter int Cores = 6
) (
    input logic clk_i,
    input logic rst_i,
    input clock_use_e use_i[Cores],
    input trap_e trap_i[Cores],
    input logic [31:0] trap_pc_i[Cores],
    input logic [Cores-1:0] wait_i,
    output logic [Cores-1:0] trapped_o,
    reg_if.slave regs
);
  localparam int Kinds = 8;  // of a core without networks
  localparam int CoreW = Cores > 1 ? $clog2(Cores) : 1;
  logic [31:0] count_q[Cores] [Kinds];
  logic [31:0] waits_q[Cores];
  for (genvar c = 0; c < Cores; c++) begin : g_trapped
    assign trapped_o[c] = trap_i[c] != NoTrap;
  end
  always_ff @(posedge clk_i) begin
    for (int c = 0; c < Cores; c++) begin
      for (int k = 0; k < Kinds; k++)
      if (use_i[c] == clock_use_e'(k)) count_q[c][k] <= count_q[c][k] + 1'b1;
      if (wait_i[c]) waits_q[c] <= waits_q[c] + 1'b1;
    end
    if (rst_i) begin
      for (int c = 0; c < Cores; c++) begin
        for (int k = 0; k < Kinds; k++) count_q[c][k] <= '0;
        waits_q[c] <= '0;
      end
    end
  end

  wire [3:0] core = regs.addr[9:6];
  wire [CoreW-1:0] index = CoreW'(core);
  always_ff @(posedge clk_i) begin
    regs.ack   <= regs.req && !rst_i;
    regs.rdata <= '0;
    if (regs.req && 5'(core) < 5'(Cores)) begin
      unique case (regs.addr[5:2]) inside
        [4'd0 : 4'd7]: regs.rdata <= count_q[index][regs.addr[4:2]];
        4'd8: regs.rdata <= 32'(trap_i[index]);
        4'd9: regs.rdata <= trap_pc_i[index];
        4'd10: regs.rdata <= waits_q[index];
        default: regs.rdata <= '0;
      endcase
    end
  end
  wire unused = &{1'b0, regs.addr, regs.write, regs.wdata, regs.wstrb};
endmodule

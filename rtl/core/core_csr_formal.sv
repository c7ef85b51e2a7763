// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=6
`include "formal.svh"
/// core_csr: each register keeps what is written, set and cleared in the bits it has, and else only what the header says
/// changes it; interrupts are asked for, entered and left as the RISC-V manual says. mscratch has no reset, and is told of after a write.
module core_csr_formal
  import core_pkg::*, core_pipe_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input logic run_i,
    input csr_select_t select_i,
    input logic write_i,
    input logic [1:0] op_i,
    input logic [31:0] wdata_i,
    input logic [NetCount-1:0] some_i,
    input logic [NetCount-1:0][NetCountW-1:0] count_i,
    input logic [NetCount-1:0] room_i,
    input logic [IrqCount-1:0] flag_i,
    input logic enter_i,
    input logic [31:0] pc_i,
    input logic leave_i
);
  `FORMAL_BEGIN
  logic [31:0] rdata, mtvec, mepc;
  logic irq;
  core_csr dut (
      .clk_i,
      .rst_i,
      .run_i,
      .select_i,
      .write_i,
      .op_i,
      .wdata_i,
      .rdata_o(rdata),
      .some_i,
      .count_i,
      .room_i,
      .flag_i,
      .irq_o  (irq),
      .enter_i,
      .pc_i,
      .leave_i,
      .mtvec_o(mtvec),
      .mepc_o (mepc)
  );
  // One instruction at a time, of one register; an interrupt stands in for one.
  always_comb begin
    assume ($onehot0(
        {
          select_i.mstatus,
          select_i.mie,
          select_i.mip,
          select_i.mtvec,
          select_i.mscratch,
          select_i.mepc,
          select_i.mcause,
          select_i.net_status,
          select_i.irq_flags
        }
    ));
    assume ($onehot0({write_i, enter_i, leave_i}));
    assume (op_i != 2'd0 && (!enter_i || irq));
  end

  // The registers as words, in the order of mstatus, mie, flags, mtvec, mscratch, mepc, mcause.
  localparam int Words = 7;
  localparam logic [Words-1:0][31:0] Has = {
    32'h0000_001f,
    32'hffff_fffc,
    32'hffff_ffff,
    32'hffff_fffc,
    32'((1 << IrqCount) - 1),
    32'((1 << IrqCount) - 1) << 16,
    32'h88
  };
  logic [Words-1:0][31:0] word_q;
  logic scratch_known_q;
  logic [Words-1:0] chosen;
  assign chosen = {
    select_i.mcause,
    select_i.mepc,
    select_i.mscratch,
    select_i.mtvec,
    select_i.irq_flags,
    select_i.mie,
    select_i.mstatus
  };
  wire [IrqCount-1:0] asks = word_q[1][16+:IrqCount] & word_q[2][IrqCount-1:0];
  for (genvar w = 0; w < Words; w++) begin : g_word
    always_ff @(posedge clk_i) begin
      if (write_i && chosen[w]) begin
        for (int b = 0; b < 32; b++)
        if (Has[w][b]) begin
          if (op_i == 2'd1) word_q[w][b] <= wdata_i[b];
          else if (wdata_i[b]) word_q[w][b] <= op_i == 2'd2;
        end
      end
      if (w == 0) begin
        if (enter_i) {word_q[w][7], word_q[w][3]} <= {word_q[w][3], 1'b0};
        if (leave_i) {word_q[w][7], word_q[w][3]} <= {1'b1, word_q[w][7]};
        if (!run_i) word_q[w][3] <= 1'b0;
      end
      if (w == 2) for (int f = 0; f < IrqCount; f++) if (flag_i[f]) word_q[w][f] <= 1'b1;
      if (w == 5 && enter_i) word_q[w] <= pc_i & Has[w];
      if (w == 6 && enter_i)
        for (int f = 0; f < IrqCount; f++)
        if (asks[f] && (asks & IrqCount'((1 << f) - 1)) == '0) word_q[w] <= 32'd16 + 32'(f);
      if (rst_i) word_q[w] <= '0;
    end
  end
  always_ff @(posedge clk_i)
    scratch_known_q <= !rst_i && (scratch_known_q || (write_i && select_i.mscratch && op_i == 2'd1));

  always_comb begin
    if (started_q) begin
      assert (mtvec == word_q[3] && mepc == word_q[5]);
      assert (irq == (word_q[0][3] && asks != '0));
      for (int w = 0; w < Words; w++)
      if (chosen[w] && (w != 4 || scratch_known_q))
        assert (rdata == (word_q[w] | (w == 6 ? 32'h8000_0000 : '0)));
      if (select_i.mip) assert (rdata == word_q[2] << 16);
      if (select_i.net_status)
        for (int n = 0; n < NetCount; n++)
        assert (rdata[n] == some_i[n] && rdata[4+n] == room_i[n] && rdata[8+4*n+:4] == 4'(count_i[n]));
      if (chosen == '0 && !select_i.mip && !select_i.net_status) assert (rdata == '0);
      cover (irq && enter_i && asks == IrqCount'(6));
      cover (leave_i && word_q[0] == 32'h80);
    end
  end
endmodule

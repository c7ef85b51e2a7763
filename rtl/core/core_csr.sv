// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Control and status registers of a core with networks, and its interrupts.
///
/// mstatus (MIE, MPIE), mie, mip, mtvec, mscratch, mepc, mcause as the RISC-V manual has them; interrupt `f` is flag `f`, bit
/// 16 + f of mie and mip. 0x7c0 (read only): bit n a word of network n can be read, bit 4 + n one can be written, bits
/// 8 + 4n and up how many can be read. 0x7c1: the flags, set by `flag_i`, cleared by writing (a flag that comes in the same
/// clock stays). `irq_o` while an enabled flag is up and MIE is set. Writes take effect for the next instruction; those to
/// mip and 0x7c0 do nothing. `run_i` low clears MIE, reset everything but mscratch; flags stay until they are cleared.
/// Paper: tile-router, section 3.1 (a linecard's interrupt sets a flag).
module core_csr
  import core_pkg::*, core_pipe_pkg::csr_select_t;
(
    input  logic                                      clk_i,
    input  logic                                      rst_i,
    input  logic                                      run_i,
    // the instruction in EX
    input  csr_select_t                               select_i,
    input  logic                                      write_i,
    input  logic        [         1:0]                op_i,      // 1 write, 2 set, 3 clear bits
    input  logic        [        31:0]                wdata_i,
    output logic        [        31:0]                rdata_o,
    // networks
    input  logic        [NetCount-1:0]                some_i,
    input  logic        [NetCount-1:0][NetCountW-1:0] count_i,
    input  logic        [NetCount-1:0]                room_i,
    // interrupts
    input  logic        [IrqCount-1:0]                flag_i,
    output logic                                      irq_o,
    input  logic                                      enter_i,   // the interrupt is taken at pc_i
    input  logic        [        31:0]                pc_i,
    input  logic                                      leave_i,   // mret
    output logic        [        31:0]                mtvec_o,
    output logic        [        31:0]                mepc_o
);
  logic on_q, before_q;  // MIE, MPIE
  logic [IrqCount-1:0] flags_q, enable_q, cause;
  logic [4:0] cause_q;
  logic [31:0] scratch_q, status, next;
  logic [31:2] mtvec_q, mepc_q;

  assign irq_o   = on_q && (flags_q & enable_q) != 0;
  assign mtvec_o = {mtvec_q, 2'd0};
  assign mepc_o  = {mepc_q, 2'd0};
  assign cause   = flags_q & enable_q;

  always_comb begin
    if (`WORTH(select_i != '0)) begin
      status = '0;
      for (int n = 0; n < NetCount; n++) begin
        status[n] = some_i[n];
        status[4+n] = room_i[n];
        status[8+4*n+:4] = 4'(count_i[n]);
      end
      rdata_o = '0;
      if (select_i.mstatus) rdata_o |= {24'd0, before_q, 3'd0, on_q, 3'd0};
      if (select_i.mie) rdata_o |= 32'(enable_q) << 16;
      if (select_i.mip) rdata_o |= 32'(flags_q) << 16;
      if (select_i.mtvec) rdata_o |= mtvec_o;
      if (select_i.mscratch) rdata_o |= scratch_q;
      if (select_i.mepc) rdata_o |= mepc_o;
      if (select_i.mcause) rdata_o |= {1'b1, 26'd0, cause_q};
      if (select_i.irq_flags) rdata_o |= 32'(flags_q);
      if (select_i.net_status) rdata_o |= status;
      unique case (op_i)
        2'd1: next = wdata_i;
        2'd2: next = rdata_o | wdata_i;
        default: next = rdata_o & ~wdata_i;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (flag_i != 0) flags_q <= flags_q | flag_i;
    if (write_i) begin
      if (select_i.mstatus) {before_q, on_q} <= {next[7], next[3]};
      if (select_i.mie) enable_q <= next[16+:IrqCount];
      if (select_i.mtvec) mtvec_q <= next[31:2];
      if (select_i.mscratch) scratch_q <= next;
      if (select_i.mepc) mepc_q <= next[31:2];
      if (select_i.mcause) cause_q <= next[4:0];
      if (select_i.irq_flags) flags_q <= next[IrqCount-1:0] | flag_i;
    end
    if (enter_i) begin
      mepc_q <= pc_i[31:2];
      {before_q, on_q} <= {on_q, 1'b0};
      for (int f = IrqCount - 1; f >= 0; f--) if (cause[f]) cause_q <= 5'd16 + 5'(f);
    end
    if (leave_i) {before_q, on_q} <= {1'b1, before_q};
    if (!run_i) on_q <= 1'b0;
    if (rst_i) begin
      on_q <= 1'b0;
      before_q <= 1'b0;
      flags_q <= '0;
      enable_q <= '0;
      mtvec_q <= '0;
      mepc_q <= '0;
      cause_q <= '0;
    end
  end
endmodule

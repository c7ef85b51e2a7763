// SPDX-License-Identifier: Apache-2.0
/// Decoder of the core: RV32IM, the amo*.w of A (not lr, sc), reads of the counters among Zicsr, `set` and `update`.
///
/// Combinational. Whatever is not listed is `UnitTrap` with `TrapIllegal`; fence and fence.i do nothing. `set`, and `update` and
/// amo*.w with rd x0, are stores: their answer is not waited for.
/// wfi waits for work. With `Networks` also the CSRs of core_csr, mret, and x26 to x28 as networks.
/// Custom-0 (opcode 0x0b), rs1 = base of an array of bits, rs2 = index of a bit in it: funct3 0 `set`, funct3 1 `update rd`.
module core_decode
  import core_pkg::*, core_pipe_pkg::*;
#(
    parameter bit Networks = 1'b0
) (
    input  logic     [31:0] insn_i,
    output decoded_t        op_o
);
  wire [ 6:0] opcode = insn_i[6:0];
  wire [ 2:0] funct3 = insn_i[14:12];
  wire [ 6:0] funct7 = insn_i[31:25];
  wire [ 4:0] rd = insn_i[11:7];

  wire [31:0] imm_i = {{20{insn_i[31]}}, insn_i[31:20]};
  wire [31:0] imm_s = {{20{insn_i[31]}}, insn_i[31:25], insn_i[11:7]};
  wire [31:0] imm_b = {{20{insn_i[31]}}, insn_i[7], insn_i[30:25], insn_i[11:8], 1'b0};
  wire [31:0] imm_u = {insn_i[31:12], 12'd0};
  wire [31:0] imm_j = {{12{insn_i[31]}}, insn_i[19:12], insn_i[20], insn_i[30:21], 1'b0};

  function automatic alu_e alu_of(input logic [2:0] f3, input logic other);
    unique case (f3)
      3'd0: return other ? AluSub : AluAdd;
      3'd1: return AluSll;
      3'd2: return AluSlt;
      3'd3: return AluSltu;
      3'd4: return AluXor;
      3'd5: return other ? AluSra : AluSrl;
      3'd6: return AluOr;
      default: return AluAnd;
    endcase
  endfunction

  /// The bank's operation of an amo; Load (which no amo is) for those there are none of.
  function automatic mem_op_e amo_of(input logic [4:0] f5);
    unique case (f5)
      5'h01:   return Swap;
      5'h00:   return Add;
      5'h0c:   return And;
      5'h08:   return Or;
      5'h04:   return Xor;
      5'h10:   return Min;
      5'h14:   return Max;
      5'h18:   return MinU;
      5'h1c:   return MaxU;
      default: return Load;
    endcase
  endfunction

  always_comb begin
    op_o = '{
        unit: UnitAlu,
        alu: AluAdd,
        a: FromReg,
        b: FromReg,
        imm: imm_i,
        funct3: funct3,
        reads_rs1: 1'b0,
        reads_rs2: 1'b0,
        rd: rd,
        mem_op: Load,
        bit_index: 1'b0,
        trap: NoTrap,
        sends: '0
    };
    case (opcode)
      7'h37: begin  // lui
        op_o.alu = AluB;
        op_o.b   = FromImm;
        op_o.imm = imm_u;
      end
      7'h17: begin  // auipc
        op_o.a   = FromPc;
        op_o.b   = FromImm;
        op_o.imm = imm_u;
      end
      7'h6f: begin
        op_o.unit = UnitJal;
        op_o.imm  = imm_j;
      end
      7'h67: begin
        op_o.unit = UnitJalr;
        op_o.b = FromImm;
        op_o.reads_rs1 = 1'b1;
        if (funct3 != 0) op_o.trap = TrapIllegal;
      end
      7'h63: begin
        op_o.unit = UnitBranch;
        op_o.imm = imm_b;
        op_o.reads_rs1 = 1'b1;
        op_o.reads_rs2 = 1'b1;
        op_o.rd = '0;
        if (funct3[2:1] == 2'b01) op_o.trap = TrapIllegal;
      end
      7'h03: begin
        op_o.unit = UnitLoad;
        op_o.b = FromImm;
        op_o.reads_rs1 = 1'b1;
        if (funct3 == 3'd3 || funct3[2:1] == 2'b11) op_o.trap = TrapIllegal;
      end
      7'h23: begin
        op_o.unit = UnitStore;
        op_o.mem_op = Store;
        op_o.b = FromImm;
        op_o.imm = imm_s;
        op_o.reads_rs1 = 1'b1;
        op_o.reads_rs2 = 1'b1;
        op_o.rd = '0;
        if (funct3 > 3'd2) op_o.trap = TrapIllegal;
      end
      7'h13: begin
        op_o.alu = alu_of(funct3, funct3 == 3'd5 && insn_i[30]);
        op_o.b = FromImm;
        op_o.reads_rs1 = 1'b1;
        if (funct3 == 3'd1 && funct7 != 0) op_o.trap = TrapIllegal;
        if (funct3 == 3'd5 && (funct7 & 7'h5f) != 0) op_o.trap = TrapIllegal;
      end
      7'h33: begin
        op_o.alu = alu_of(funct3, insn_i[30]);
        op_o.reads_rs1 = 1'b1;
        op_o.reads_rs2 = 1'b1;
        if (funct7 == 7'h01) op_o.unit = funct3[2] ? UnitDiv : UnitMul;
        else if (funct7 == 7'h20 ? !(funct3 inside {3'd0, 3'd5}) : funct7 != 0)
          op_o.trap = TrapIllegal;
      end
      7'h0f: begin  // fence, fence.i
        op_o.rd = '0;
        if (funct3 > 3'd1) op_o.trap = TrapIllegal;
      end
      7'h2f: begin
        op_o.unit = rd == 0 ? UnitStore : UnitLoad;
        op_o.b = FromImm;
        op_o.imm = '0;
        op_o.reads_rs1 = 1'b1;
        op_o.reads_rs2 = 1'b1;
        op_o.mem_op = amo_of(insn_i[31:27]);
        if (funct3 != 3'd2 || op_o.mem_op == Load) op_o.trap = TrapIllegal;
      end
      7'h0b: begin
        op_o.unit = funct3 == 0 || rd == 0 ? UnitStore : UnitLoad;
        op_o.b = FromBit;
        op_o.reads_rs1 = 1'b1;
        op_o.reads_rs2 = 1'b1;
        op_o.mem_op = funct3 == 0 ? Or : Update;
        op_o.bit_index = 1'b1;
        if (funct3 == 0) op_o.rd = '0;
        if (funct3 > 3'd1 || funct7 != 0 || (funct3 == 0 && rd != 0)) op_o.trap = TrapIllegal;
      end
      7'h73: begin
        op_o.unit = UnitCsr;
        if (funct3 == 0) begin
          op_o.trap = TrapIllegal;
          if (insn_i == 32'h0000_0073) op_o.trap = TrapCall;
          if (insn_i == 32'h0010_0073) op_o.trap = TrapBreak;
          if (Networks && insn_i == 32'h3020_0073) begin  // mret
            op_o.unit = UnitMret;
            op_o.trap = NoTrap;
          end
          if (insn_i == 32'h1050_0073) begin  // wfi
            op_o.unit = UnitWait;
            op_o.trap = NoTrap;
          end
        end else if (Networks && funct3 != 3'd4 && insn_i[31:20] inside {CsrMstatus, CsrMie, CsrMtvec, CsrMscratch,
                     CsrMepc, CsrMcause, CsrMip, CsrNetStatus, CsrIrqFlags}) begin
          op_o.reads_rs1 = !funct3[2];
        end else begin
          // Nothing may be written: csrrs and csrrc of x0, csrrsi and csrrci of 0.
          if (!funct3[1] || insn_i[19:15] != 0) op_o.trap = TrapIllegal;
          if (!(insn_i[31:20] inside {12'hf14, 12'hb00, 12'hb80, 12'hb02, 12'hb82, 12'hc00, 12'hc80, 12'hc02, 12'hc82}))
            op_o.trap = TrapIllegal;
        end
      end
      default: op_o.trap = TrapIllegal;
    endcase
    if (op_o.trap != NoTrap) begin
      op_o.unit = UnitTrap;
      op_o.reads_rs1 = 1'b0;
      op_o.reads_rs2 = 1'b0;
      op_o.rd = '0;
    end
    for (int n = 0; Networks && n < NetCount; n++) op_o.sends[n] = op_o.rd == FirstNet + 5'(n);
    if (op_o.sends != 0) op_o.rd = '0;
  end
endmodule

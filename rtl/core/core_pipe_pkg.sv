// SPDX-License-Identifier: Apache-2.0
/// What the stages of the core hand on to each other.
package core_pipe_pkg;
  import core_pkg::*;

  typedef enum logic [3:0] {
    AluAdd,
    AluSub,
    AluSll,
    AluSlt,
    AluSltu,
    AluXor,
    AluSrl,
    AluSra,
    AluOr,
    AluAnd,
    AluB      // the second operand as it is
  } alu_e;

  /// Where the first and the second operand come from.
  typedef enum logic [1:0] {
    FromReg,
    FromImm,  // second operand
    FromPc,   // first operand
    FromBit   // second operand: the word's offset of the bit rs2 counts to (`set`, `update`)
  } operand_e;

  typedef enum logic [3:0] {
    UnitAlu,
    UnitBranch,
    UnitJal,
    UnitJalr,
    UnitMul,
    UnitDiv,
    UnitCsr,
    UnitLoad,  // any access whose answer goes to rd
    UnitStore,  // any access whose answer, if there is one, is dropped: goes through the store buffer
    UnitTrap,
    UnitMret,
    UnitWait,  // wfi
    UnitIrq  // stands in for the instruction at which an interrupt is taken
  } unit_e;

  /// A decoded instruction.
  typedef struct packed {
    unit_e unit;
    alu_e alu;
    operand_e a;
    operand_e b;
    logic [31:0] imm;
    logic [2:0] funct3;
    logic reads_rs1;
    logic reads_rs2;
    logic [4:0] rd;  // 0: writes nothing
    mem_op_e mem_op;
    logic bit_index;  // `set`, `update`: what is written follows from the bit's index
    trap_e trap;
    logic [NetCount-1:0] sends;  // the result goes to a network, not to rd
  } decoded_t;
endpackage

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

  /// Which register an instruction reads and writes, one bit: known before EX, where its value is needed.
  typedef struct packed {
    logic cycle;
    logic cycle_high;
    logic retired;
    logic retired_high;
    logic hart;
    logic mstatus;
    logic mie;
    logic mip;
    logic mtvec;
    logic mscratch;
    logic mepc;
    logic mcause;
    logic net_status;
    logic irq_flags;
  } csr_select_t;
  function automatic csr_select_t csr_select(input logic [11:0] addr);
    return
    '{
        cycle: addr inside {12'hb00, 12'hc00},
        cycle_high: addr inside {12'hb80, 12'hc80},
        retired: addr inside {12'hb02, 12'hc02},
        retired_high: addr inside {12'hb82, 12'hc82},
        hart: addr == 12'hf14,
        mstatus: addr == CsrMstatus,
        mie: addr == CsrMie,
        mip: addr == CsrMip,
        mtvec: addr == CsrMtvec,
        mscratch: addr == CsrMscratch,
        mepc: addr == CsrMepc,
        mcause: addr == CsrMcause,
        net_status: addr == CsrNetStatus,
        irq_flags: addr == CsrIrqFlags
    }
    ;
  endfunction

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

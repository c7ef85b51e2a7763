// SPDX-License-Identifier: Apache-2.0
// clang-format off: assembler
// Environment of the instruction tests: how a program starts, passes and fails. The names are those that the public
// riscv-tests expect of their environment, so its rv32ui, rv32um and rv32ua programs assemble with this header too.
#ifndef EMERY_RISCV_TEST_H
#define EMERY_RISCV_TEST_H

#define TESTNUM gp
#define RVTEST_RV32U
#define RVTEST_RV64U
#define RVTEST_CODE_BEGIN \
  .section .text.start;   \
  .globl _start;          \
  _start:                 \
  li TESTNUM, 0;
#define RVTEST_CODE_END unimp
// The end is an ecall with 1 in gp, or with the number of the test that failed, times two, plus one.
#define RVTEST_PASS \
  fence;            \
  li TESTNUM, 1;    \
  ecall
#define RVTEST_FAIL         \
  fence;                    \
  slli TESTNUM, TESTNUM, 1; \
  ori TESTNUM, TESTNUM, 1;  \
  ecall
#define RVTEST_DATA_BEGIN .balign 16;
#define RVTEST_DATA_END .balign 16;
#define EXTRA_DATA

#endif

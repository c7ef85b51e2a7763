# SPDX-License-Identifier: Apache-2.0
# Stack at the end of the data RAM, main; its result is the RAM's first word, then an ecall stops the core.
  .section .text.start
  .globl _start
_start:
  la sp, stack_top
  call main
  la t0, exit_code
  sw a0, 0(t0)
  ecall
  .section .data.exit, "aw"
  .globl exit_code
exit_code: .word 0

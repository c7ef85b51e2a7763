# SPDX-License-Identifier: Apache-2.0
# Where every core starts, at address 0: a stack of its own (512 bytes), then C.
        .section .text.start, "ax"
        .globl  _start
        .type   _start, @function
_start:
        csrr    t0, mhartid
        addi    t0, t0, 1
        slli    t0, t0, 9
        la      sp, stacks
        add     sp, sp, t0
        j       core_main
        .size   _start, . - _start

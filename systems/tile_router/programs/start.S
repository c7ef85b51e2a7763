# SPDX-License-Identifier: Apache-2.0
# Where every tile starts, at address 0.
        .section .text.start, "ax"
        .globl  _start
        .type   _start, @function
_start:
        la      sp, stack_top
        j       main
        .size   _start, . - _start

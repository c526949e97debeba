# SPDX-License-Identifier: Apache-2.0
# One function for each rule, at multiples of 16. The numbers after the mark are
# the offsets in it that count as in the hypervisor; suite.py reads them.

.text
.macro function name
    .balign 16, 0x90
    .globl \name
    .type \name, @function
\name:
.endm
function f0 # 1 2: begins, ends
    nop; out %al, %dx; nop; ret
function f1 # : its last byte looks like hlt
    mov $0xf4f4f4f4, %eax; nop; ret
function f2 # : and so does a displacement
    lea 0x6cec6cec(%ebx), %eax; ret
function f3 # 0 2: with a prefix
    rep insb; nop; ret
function f4 # 0 2
    cpuid; nop; ret
function f5 # 0 1: the end of a function that stops
    hlt; ret
function f6 # 3 5 7: one after the other
    nop; nop; nop; rdmsr; wrmsr; nop; ret
function f7 # : nothing at all
    nop; mov %eax, %ebx; pause; ret
function device_write # 0 1 2: by its name
    nop; nop; ret
function f9 # 0 1 3: a jump to the next one is looked through
    out %al, %dx; jmp 1f; 1: nop; jmp 2f; nop; 2: ret
function f10 # 0 1: its callers are charged
    out %al, %dx; ret
function f11 # 5: behind a call of such a function
    call f10; nop; ret
function f12 # 3 4: with a frame to be left, in the bytes of either width
    .byte 0x55, 0x89, 0xe5; in %dx, %al; leave; ret
function f13 # 5: behind a call of that
    call f12; nop; ret
function f14 # : a jump in between
    call f9; nop; ret
function f15 # 5: other instructions in between
    call f0; nop; ret
.balign 16, 0x90

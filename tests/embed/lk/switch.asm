; SPDX-License-Identifier: Apache-2.0
;
; The switch between threads, the CPU's halt, and the handler of NMIs that come
; when nothing is sampled.

global  switch_stack, arch_idle, nmi_entry

section .text
; void switch_stack(uintptr_t *from, uintptr_t to): stores the stack pointer in
; *(from) and returns to whoever called this with (to) stored.
switch_stack:
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
        mov     [rdi], rsp
        mov     rsp, rsi
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
        ret

arch_idle:
        sti
        hlt
        ret
        align   16

nmi_entry:
        iretq

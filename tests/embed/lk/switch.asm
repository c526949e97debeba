; SPDX-License-Identifier: Apache-2.0
;
; The switch between threads, the CPU's halt, and the handler of NMIs that are
; not the profiler's: LK takes each for a fault. Only after the end of sampling
; one may come, to each CPU.

global  switch_stack, arch_idle, nmi_entry
extern  fault_entry, nmis_may_come

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
        cmp     byte [rel nmis_may_come], 0
        je      fault_entry
        iretq

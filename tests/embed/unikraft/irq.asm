; SPDX-License-Identifier: Apache-2.0
;
; Entries of the interrupts that there are, and the halt of a CPU.

extern  irq_handle
global  irq_8, irq_13, irq_39, ukplat_lcpu_halt_irq

section .text
irq_8:  push    8
        jmp     irq
irq_13: push    13
        jmp     irq
irq_39: push    39
irq:    push    rbp
        push    rax
        push    rcx
        push    rdx
        push    rsi
        push    rdi
        push    r8
        push    r9
        push    r10
        push    r11
        mov     rdi, [rsp + 80]
        cld
        call    irq_handle
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rdi
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
        pop     rbp
        add     rsp, 8
        iretq

        align   16
ukplat_lcpu_halt_irq:
        sti
        hlt
        cli
        ret
        align   16

; SPDX-License-Identifier: Apache-2.0
;
; Entries of the interrupts that there are, and the halt of a CPU.

%include "registers64.inc"

extern  irq_handle
global  irq_8, irq_13, irq_39, ukplat_lcpu_halt_irq

section .text
irq_8:  push    8
        jmp     irq
irq_13: push    13
        jmp     irq
irq_39: push    39
irq:    SAVE_REGISTERS
        mov     rdi, [rsp + 80]
        call    irq_handle
        RESTORE_REGISTERS
        add     rsp, 8
        iretq

        align   16
ukplat_lcpu_halt_irq:
        sti
        hlt
        cli
        ret
        align   16

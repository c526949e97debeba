; SPDX-License-Identifier: Apache-2.0
;
; Entries of interrupts: the timer's, and a PIT's that nobody has asked for.

extern  timer_interrupt
global  timer_entry, pit_entry

section .text
timer_entry:
        pushad
        cld
        call    timer_interrupt
        popad
        iretd

pit_entry:
        push    eax
        mov     al, 0x20
        out     0x20, al
        pop     eax
        iretd

; SPDX-License-Identifier: Apache-2.0
;
; Entries of interrupts: the PIT's, and the local APIC's spurious one.

extern  tick
global  tick_entry, spurious_entry

section .text
tick_entry:
        pushad
        cld
        call    tick
        popad
        iretd

spurious_entry:
        iretd

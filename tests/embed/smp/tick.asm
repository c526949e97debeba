; SPDX-License-Identifier: Apache-2.0
;
; The interrupt of a CPU's timer.

extern  tick
global  tick_entry

section .text
tick_entry:
        pusha
        cld
        call    tick
        popa
        iret

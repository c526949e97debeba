; SPDX-License-Identifier: Apache-2.0
;
; The two handlers that the parasite is compared with, and the loop that they
; interrupt. handlers.h has the prototypes.

        section .text
        global  bench_handler_bare:function, bench_handler_storing:function
        global  bench_loop:function, bench_sled:function, bench_ticks

bench_handler_bare:
        inc     dword [bench_ticks]
        push    eax
        mov     al, 0x20                ; end of interrupt, to the first PIC
        out     0x20, al
        pop     eax
        iret

bench_handler_storing:
        push    eax
        push    edx
        mov     edx, [index]
        mov     eax, [esp + 8]          ; interrupted address
        mov     [ring + edx * 4], eax
        inc     edx
        and     edx, RING - 1
        mov     [index], edx
        inc     dword [bench_ticks]
        mov     al, 0x20
        out     0x20, al
        pop     edx
        pop     eax
        iret

bench_loop:                             ; [esp + 4] = rounds
        mov     ecx, [esp + 4]
.round: dec     ecx
        jnz     .round
        ret

bench_sled:                             ; [esp + 4] = rounds
        mov     ecx, [esp + 4]
.round: times   65534 nop
        dec     ecx
        jnz     .round
        ret

RING    equ     1024

        section .bss
        align   4
ring:   resd    RING
index:  resd    1
bench_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

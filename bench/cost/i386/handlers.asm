; SPDX-License-Identifier: Apache-2.0
;
; The two handlers that the parasite is compared with, and the loop that they
; interrupt. handlers.h has the prototypes.

        section .text
        global  bench_handler_bare:function, bench_handler_storing:function
        global  bench_loop:function, bench_sled:function
        global  bench_stack_loop:function, bench_ticks

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

bench_stack_loop:                       ; [esp + 4] = rounds; eax = bytes used
        pushfd
        cli                             ; nothing comes while we paint and look
        mov     ecx, PAINTED
.paint: mov     edx, esp
        sub     edx, ecx
        mov     dword [edx], PAINT
        sub     ecx, 4
        jnz     .paint
        mov     ecx, [esp + 8]
        sti
.round: dec     ecx
        jnz     .round
        cli
        mov     eax, PAINTED
.look:  mov     edx, esp
        sub     edx, eax
        cmp     dword [edx], PAINT
        jne     .found
        sub     eax, 4
        jnz     .look
.found: popfd
        ret

PAINTED equ     1024
PAINT   equ     0x5ca1ab1e

RING    equ     1024

        section .bss
        align   4
ring:   resd    RING
index:  resd    1
bench_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

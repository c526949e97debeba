; SPDX-License-Identifier: Apache-2.0
;
; The two handlers that the parasite is compared with, and the loop that they
; interrupt. handlers.h has the prototypes.

        default rel
        section .text
        global  bench_handler_bare:function, bench_handler_storing:function
        global  bench_loop:function, bench_sled:function
        global  bench_stack_loop:function, bench_ticks

bench_handler_bare:
        inc     dword [bench_ticks]
        push    rax
        mov     al, 0x20                ; end of interrupt, to the first PIC
        out     0x20, al
        pop     rax
        iretq

bench_handler_storing:
        push    rax
        push    rdx
        mov     edx, [index]
        mov     rax, [rsp + 16]         ; interrupted address
        mov     [ring + rdx * 8], rax
        inc     edx
        and     edx, RING - 1
        mov     [index], edx
        inc     dword [bench_ticks]
        mov     al, 0x20
        out     0x20, al
        pop     rdx
        pop     rax
        iretq

bench_loop:                             ; edi = rounds
        dec     edi
        jnz     bench_loop
        ret

bench_sled:                             ; edi = rounds
        times   65534 nop
        dec     edi
        jnz     bench_sled
        ret

bench_stack_loop:                       ; edi = rounds; eax = bytes used
        pushfq
        cli                             ; nothing comes while we paint and look
        mov     ecx, PAINTED
.paint: mov     rdx, rsp
        sub     rdx, rcx
        mov     dword [rdx], PAINT
        sub     ecx, 4
        jnz     .paint
        sti
.round: dec     edi
        jnz     .round
        cli
        mov     eax, PAINTED
.look:  mov     rdx, rsp
        sub     rdx, rax
        cmp     dword [rdx], PAINT
        jne     .found
        sub     eax, 4
        jnz     .look
.found: popfq
        ret

PAINTED equ     1024
PAINT   equ     0x5ca1ab1e

RING    equ     1024

        section .bss
        align   8
ring:   resq    RING
index:  resd    1
bench_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

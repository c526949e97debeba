; SPDX-License-Identifier: Apache-2.0
;
; The two handlers that the parasite is compared with, and the loop that they
; interrupt. handlers.h has the prototypes.

%include "tests/guest/both.inc"

PAINTED equ     1024
PAINT   equ     0x5ca1ab1e
RING    equ     1024
PIC_EOI equ     0x20                    ; end of interrupt, to the first PIC

        section .text
        global  bench_ticks

FUNCTION bench_handler_bare
        inc     dword [bench_ticks]
        push    XAX
        mov     al, PIC_EOI
        out     0x20, al
        pop     XAX
        IRET
.end:

FUNCTION bench_handler_storing
        push    XAX
        push    XDX
        mov     edx, [index]
        mov     XAX, [XSP + 2 * WORD_BYTES] ; interrupted address
        mov     [ring + XDX * WORD_BYTES], XAX
        inc     edx
        and     edx, RING - 1
        mov     [index], edx
        inc     dword [bench_ticks]
        mov     al, PIC_EOI
        out     0x20, al
        pop     XDX
        pop     XAX
        IRET
.end:

FUNCTION bench_loop
        FIRST_ARGUMENT                  ; rounds
.round: dec     ecx
        jnz     .round
        ret
.end:

FUNCTION bench_sled
        FIRST_ARGUMENT                  ; rounds
.round: times   65534 nop
        dec     ecx
        jnz     .round
        ret
.end:

FUNCTION bench_stack_loop               ; eax = bytes used
        FIRST_ARGUMENT                  ; rounds
        mov     eax, ecx
        pushf
        cli                             ; nothing comes while we paint and look
        mov     ecx, PAINTED
.paint: mov     XDX, XSP
        sub     XDX, XCX
        mov     dword [XDX], PAINT
        sub     ecx, 4
        jnz     .paint
        sti
.round: dec     eax
        jnz     .round
        cli
        mov     eax, PAINTED
.look:  mov     XDX, XSP
        sub     XDX, XAX
        cmp     dword [XDX], PAINT
        jne     .found
        sub     eax, 4
        jnz     .look
.found: popf
        ret
.end:

        section .bss
        align   WORD_BYTES
ring:   resb    RING * WORD_BYTES
index:  resd    1
bench_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

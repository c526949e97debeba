; SPDX-License-Identifier: Apache-2.0
;
; uint32_t spin(uint32_t rounds);  main.c says what it does.

%include "tests/guest/both.inc"

%if WORD_BYTES == 8
%define STORE stosq
%define SCAN scasq
%else
%define STORE stosd
%define SCAN scasd
%endif
PAINT_WORDS equ 1024 / WORD_BYTES
COLOUR  equ     0x5ca1ab1e5ca1ab1e >> (64 - 8 * WORD_BYTES)

        section .text

FUNCTION spin
        FIRST_ARGUMENT
        push    XBX
        push    XDI
        mov     ebx, ecx
        lea     XDI, [XSP - PAINT_WORDS * WORD_BYTES]
        mov     ecx, PAINT_WORDS
        mov     XAX, COLOUR
        rep     STORE                   ; an interrupt now writes over the
        mov     ecx, ebx                ; paint, or is painted over: the same
.round: times   98 nop                  ; which cost an emulator nothing
        dec     ecx
        jnz     .round
        lea     XDI, [XSP - PAINT_WORDS * WORD_BYTES]
        mov     ecx, PAINT_WORDS + 1    ; the last one is our own, not paint
        repe    SCAN
        lea     XAX, [XSP + WORD_BYTES] ; XDI is after what differed
        sub     XAX, XDI
        pop     XDI
        pop     XBX
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

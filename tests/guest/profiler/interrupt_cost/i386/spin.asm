; SPDX-License-Identifier: Apache-2.0
;
; uint32_t spin(uint32_t rounds);  spin.h says what it does.

        section .text
        global  spin:function (spin.end - spin)

PAINT_WORDS equ 256
COLOUR  equ     0x5ca1ab1e

spin:
        push    edi
        lea     edi, [esp - PAINT_WORDS * 4]
        mov     ecx, PAINT_WORDS
        mov     eax, COLOUR
        rep     stosd                   ; an interrupt now writes over the
        mov     ecx, [esp + 8]          ; paint, or is painted over: the same
.round: dec     ecx
        jnz     .round
        lea     edi, [esp - PAINT_WORDS * 4]
        mov     ecx, PAINT_WORDS + 1    ; the last one is our own, not paint
        repe    scasd
        lea     eax, [esp + 4]          ; edi is after what differed
        sub     eax, edi
        pop     edi
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

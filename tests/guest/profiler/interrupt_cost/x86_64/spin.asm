; SPDX-License-Identifier: Apache-2.0
;
; uint32_t spin(uint32_t rounds);  spin.h says what it does.

        section .text
        global  spin:function (spin.end - spin)

PAINT_WORDS equ 128
COLOUR  equ     0x5ca1ab1e5ca1ab1e

spin:
        push    rbx
        mov     ebx, edi
        lea     rdi, [rsp - PAINT_WORDS * 8]
        mov     ecx, PAINT_WORDS
        mov     rax, COLOUR
        rep     stosq                   ; an interrupt now writes over the
        mov     ecx, ebx                ; paint, or is painted over: the same
.round: dec     ecx
        jnz     .round
        lea     rdi, [rsp - PAINT_WORDS * 8]
        mov     ecx, PAINT_WORDS + 1    ; the last one is our own, not paint
        repe    scasq
        lea     rax, [rsp + 8]          ; rdi is after what differed
        sub     rax, rdi
        pop     rbx
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

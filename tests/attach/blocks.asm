; SPDX-License-Identifier: Apache-2.0
;
; Functions that are blocks of very different lengths, for plain.asm: work calls
; straight, 100 instructions without a jump, and turns, a loop that executes as
; many in blocks of four.

section .text
%ifdef LONG
bits 64
%else
bits 32
%endif
global work:function, straight:function, turns:function

work:
        call    straight
        call    turns
        jmp     work

straight:
%rep 99
        add     eax, 3
%endrep
        ret

turns:
        mov     ecx, 25
.turn:
        add     eax, 3
        add     eax, 5
        dec     ecx
        jnz     .turn
        ret

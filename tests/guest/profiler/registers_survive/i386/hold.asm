; SPDX-License-Identifier: Apache-2.0
;
; void hold(void);  hold.h says what it does.
;
; Clobbers what the ABI lets it, and the FPU's state. The sled is long against
; everything around it, so that nearly all ticks find it.

        section .text
        global  hold:function (hold.end - hold)
        extern  hold_in, hold_out

WORD_BYTES equ 4
FLAGS   equ     7 * WORD_BYTES
MOVED   equ     8 * WORD_BYTES
FPU     equ     48                      ; aligned to 16 bytes
SLED    equ     8192

hold:
        push    ebp
        push    ebx
        push    esi
        push    edi
        fxrstor [hold_in + FPU]
        mov     [hold_out + MOVED], esp
        push    dword [hold_in + FLAGS]
        mov     eax, [hold_in + 0 * WORD_BYTES]
        mov     ebx, [hold_in + 1 * WORD_BYTES]
        mov     ecx, [hold_in + 2 * WORD_BYTES]
        mov     edx, [hold_in + 3 * WORD_BYTES]
        mov     esi, [hold_in + 4 * WORD_BYTES]
        mov     edi, [hold_in + 5 * WORD_BYTES]
        mov     ebp, [hold_in + 6 * WORD_BYTES]
        popfd
        times   SLED nop
        pushfd
        pop     dword [hold_out + FLAGS]
        mov     [hold_out + 0 * WORD_BYTES], eax
        mov     [hold_out + 1 * WORD_BYTES], ebx
        mov     [hold_out + 2 * WORD_BYTES], ecx
        mov     [hold_out + 3 * WORD_BYTES], edx
        mov     [hold_out + 4 * WORD_BYTES], esi
        mov     [hold_out + 5 * WORD_BYTES], edi
        mov     [hold_out + 6 * WORD_BYTES], ebp
        fxsave  [hold_out + FPU]
        sub     [hold_out + MOVED], esp
        fninit
        cld
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

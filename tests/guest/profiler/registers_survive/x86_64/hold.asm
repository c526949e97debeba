; SPDX-License-Identifier: Apache-2.0
;
; void hold(void);  hold.h says what it does.
;
; Clobbers what the ABI lets it, and the FPU's state. The sled is long against
; everything around it, so that nearly all ticks find it.

        default rel
        section .text
        global  hold:function (hold.end - hold)
        extern  hold_in, hold_out

WORD_BYTES equ 8
FLAGS   equ     15 * WORD_BYTES
MOVED   equ     16 * WORD_BYTES
FPU     equ     144                     ; aligned to 16 bytes
SLED    equ     8192

hold:
        push    rbp
        push    rbx
        push    r12
        push    r13
        push    r14
        push    r15
        fxrstor [hold_in + FPU]
        mov     [hold_out + MOVED], rsp
        push    qword [hold_in + FLAGS]
        mov     rax, [hold_in + 0 * WORD_BYTES]
        mov     rbx, [hold_in + 1 * WORD_BYTES]
        mov     rcx, [hold_in + 2 * WORD_BYTES]
        mov     rdx, [hold_in + 3 * WORD_BYTES]
        mov     rsi, [hold_in + 4 * WORD_BYTES]
        mov     rdi, [hold_in + 5 * WORD_BYTES]
        mov     rbp, [hold_in + 6 * WORD_BYTES]
        mov     r8, [hold_in + 7 * WORD_BYTES]
        mov     r9, [hold_in + 8 * WORD_BYTES]
        mov     r10, [hold_in + 9 * WORD_BYTES]
        mov     r11, [hold_in + 10 * WORD_BYTES]
        mov     r12, [hold_in + 11 * WORD_BYTES]
        mov     r13, [hold_in + 12 * WORD_BYTES]
        mov     r14, [hold_in + 13 * WORD_BYTES]
        mov     r15, [hold_in + 14 * WORD_BYTES]
        popfq
        times   SLED nop
        pushfq
        pop     qword [hold_out + FLAGS]
        mov     [hold_out + 0 * WORD_BYTES], rax
        mov     [hold_out + 1 * WORD_BYTES], rbx
        mov     [hold_out + 2 * WORD_BYTES], rcx
        mov     [hold_out + 3 * WORD_BYTES], rdx
        mov     [hold_out + 4 * WORD_BYTES], rsi
        mov     [hold_out + 5 * WORD_BYTES], rdi
        mov     [hold_out + 6 * WORD_BYTES], rbp
        mov     [hold_out + 7 * WORD_BYTES], r8
        mov     [hold_out + 8 * WORD_BYTES], r9
        mov     [hold_out + 9 * WORD_BYTES], r10
        mov     [hold_out + 10 * WORD_BYTES], r11
        mov     [hold_out + 11 * WORD_BYTES], r12
        mov     [hold_out + 12 * WORD_BYTES], r13
        mov     [hold_out + 13 * WORD_BYTES], r14
        mov     [hold_out + 14 * WORD_BYTES], r15
        fxsave  [hold_out + FPU]
        sub     [hold_out + MOVED], rsp
        fninit
        cld
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbx
        pop     rbp
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

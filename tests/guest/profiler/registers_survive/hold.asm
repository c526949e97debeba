; SPDX-License-Identifier: Apache-2.0
;
; void hold(void);  main.c says what it does.
;
; Clobbers what the ABI lets it, and the FPU's state. The sled is long against
; everything around it, so that nearly all ticks find it.

%include "tests/guest/both.inc"

%if WORD_BYTES == 8
%define GENERAL rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, \
                r13, r14, r15
COUNT   equ     15
FPU     equ     144                     ; aligned to 16 bytes
%else
%define GENERAL eax, ebx, ecx, edx, esi, edi, ebp
COUNT   equ     7
FPU     equ     48
%endif
FLAGS   equ     COUNT * WORD_BYTES
MOVED   equ     (COUNT + 1) * WORD_BYTES
SLED    equ     8192

%macro  LOAD_ALL 1-*
%assign at 0
%rep    %0
        mov     %1, [hold_in + at]
%assign at at + WORD_BYTES
%rotate 1
%endrep
%endmacro

%macro  STORE_ALL 1-*
%assign at 0
%rep    %0
        mov     [hold_out + at], %1
%assign at at + WORD_BYTES
%rotate 1
%endrep
%endmacro

        section .text
        extern  hold_in, hold_out

FUNCTION hold
        PUSH_ALL PRESERVED
        fxrstor [hold_in + FPU]
        mov     [hold_out + MOVED], XSP
        mov     XAX, [hold_in + FLAGS]
        push    XAX
        LOAD_ALL GENERAL
        popf
        times   SLED nop
        pushf
        STORE_ALL GENERAL
        pop     XAX
        mov     [hold_out + FLAGS], XAX
        fxsave  [hold_out + FPU]
        sub     [hold_out + MOVED], XSP
        fninit
        cld
        POP_ALL PRESERVED
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

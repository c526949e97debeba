; SPDX-License-Identifier: Apache-2.0
;
; uint32_t hold(uint32_t turns): 0 if all registers are after so many turns of
; a loop what they were before. The drain changes the stack and calls C, which
; must preserve what the interrupt has not saved.

%include "tests/guest/both.inc"

; all but the counter, XCX
%if WORD_BYTES == 8
%define HELD rax, rdx, rbx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
%else
%define HELD eax, edx, ebx, esi, edi, ebp
%endif

%macro  FILL 1-*
%assign value 0x13579b1
%rep    %0
        mov     %1, value
%assign value value + 0x1010101
%rotate 1
%endrep
%endmacro

%macro  COMPARE 1-*
%assign value 0x13579b1
%rep    %0
        cmp     %1, value
        jne     .changed
%assign value value + 0x1010101
%rotate 1
%endrep
%endmacro

        section .text

FUNCTION hold
        FIRST_ARGUMENT
        PUSH_ALL PRESERVED
        FILL    HELD
.turn:  dec     ecx
        jnz     .turn
        COMPARE HELD
        xor     eax, eax
.done:  POP_ALL PRESERVED
        ret
.changed:
        mov     eax, 1
        jmp     .done
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

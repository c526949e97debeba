; SPDX-License-Identifier: Apache-2.0
;
; Entries of interrupts, which entry.h describes: all registers are preserved,
; and the rest is written in C.

%include "tests/guest/both.inc"

%macro  ENTRY 2
        extern  %2
        global  %1:function (%1.end - %1)
%1:
%if WORD_BYTES == 8
        push    rbp
        mov     rbp, rsp
        PUSH_SCRATCH
        cld
        lea     rdi, [rbp + 8]          ; what the CPU has pushed
        and     rsp, -16
        call    %2
        lea     rsp, [rbp - SCRATCH_WORDS * 8]
        POP_SCRATCH
        pop     rbp
        iretq
%else
        push    ebp
        mov     ebp, esp
        PUSH_SCRATCH
        cld
        lea     eax, [ebp + 4]
        and     esp, -16
        sub     esp, 12
        push    eax
        call    %2
        lea     esp, [ebp - SCRATCH_WORDS * 4]
        POP_SCRATCH
        pop     ebp
        iret
%endif
.end:
%endmacro

        section .text
        ENTRY   timer_entry, on_timer
        ENTRY   step_entry, on_step

        section .note.GNU-stack noalloc noexec nowrite progbits

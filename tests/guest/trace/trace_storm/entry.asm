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
        push    rax
        push    rcx
        push    rdx
        push    rsi
        push    rdi
        push    r8
        push    r9
        push    r10
        push    r11
        cld
        lea     rdi, [rbp + 8]          ; what the CPU has pushed
        and     rsp, -16
        call    %2
        lea     rsp, [rbp - 9 * 8]
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rdi
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
        pop     rbp
        iretq
%else
        push    ebp
        mov     ebp, esp
        push    eax
        push    ecx
        push    edx
        cld
        lea     eax, [ebp + 4]
        and     esp, -16
        sub     esp, 12
        push    eax
        call    %2
        lea     esp, [ebp - 3 * 4]
        pop     edx
        pop     ecx
        pop     eax
        pop     ebp
        iret
%endif
.end:
%endmacro

        section .text
        ENTRY   timer_entry, on_timer
        ENTRY   step_entry, on_step

        section .note.GNU-stack noalloc noexec nowrite progbits

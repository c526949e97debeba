; SPDX-License-Identifier: Apache-2.0
;
; void hook_handler(void), entered by the CPU; hook.h says what it does.
;
; On the stack as the CPU leaves it: eip, cs, eflags, and what was there.

        section .text
        extern  prof_sample
        global  hook_handler:function (hook_handler.end - hook_handler)
        global  hook_ticks, hook_next

%define SAVED 12                        ; three registers
%define INTERRUPTED 12                  ; what the CPU pushed

hook_handler:
        push    eax
        push    ecx
        push    edx
        cld
        inc     dword [hook_ticks]
        lea     eax, [esp + SAVED + INTERRUPTED]
        mov     ecx, [esp + SAVED]
        push    ebp                     ; fp
        push    eax                     ; sp
        push    ecx                     ; pc
        call    prof_sample
        add     esp, 12
        pop     edx
        pop     ecx
        pop     eax
        jmp     [hook_next]
.end:

        section .bss
        align   4
hook_next:  resd 1
hook_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

; SPDX-License-Identifier: Apache-2.0
;
; void nmi_handler(void), entered by the CPU; nmi.h says what it does.
;
; On the stack as the CPU leaves it: eip, cs, eflags, and what was there.

        section .text
        extern  prof_sample
        global  nmi_handler:function (nmi_handler.end - nmi_handler)
        global  nmi_ticks

%define SAVED 12                        ; three registers
%define INTERRUPTED 12                  ; what the CPU pushed

nmi_handler:
        push    eax
        push    ecx
        push    edx
        cld
        inc     dword [nmi_ticks]
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
        iret
.end:

        section .bss
        align   4
nmi_ticks:  resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

; SPDX-License-Identifier: Apache-2.0
;
; void nmi_handler(void), entered by the CPU; nmi.h says what it does.
;
; On the stack as the CPU leaves it: rip, cs, rflags, rsp, ss.

        default rel
        section .text
        extern  prof_sample
        global  nmi_handler:function (nmi_handler.end - nmi_handler)
        global  nmi_ticks

%define SAVED 72                        ; nine registers

nmi_handler:
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
        inc     dword [nmi_ticks]
        mov     rdi, [rsp + SAVED]      ; pc
        mov     rsi, [rsp + SAVED + 24] ; sp
        mov     rdx, rbp                ; fp
        call    prof_sample             ; the CPU aligned rsp: 5 + 9 words
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rdi
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
        iretq
.end:

        section .bss
        align   4
nmi_ticks:  resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

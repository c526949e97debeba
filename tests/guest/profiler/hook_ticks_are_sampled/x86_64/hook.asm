; SPDX-License-Identifier: Apache-2.0
;
; void hook_handler(void), entered by the CPU; hook.h says what it does.
;
; On the stack as the CPU leaves it: rip, cs, rflags, rsp, ss.

        default rel
        section .text
        extern  prof_sample
        global  hook_handler:function (hook_handler.end - hook_handler)
        global  hook_ticks, hook_next

%define SAVED 72                        ; nine registers

hook_handler:
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
        inc     dword [hook_ticks]
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
        jmp     [hook_next]
.end:

        section .bss
        align   8
hook_next:  resq 1
hook_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits

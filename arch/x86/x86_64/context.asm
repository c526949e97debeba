; SPDX-License-Identifier: Apache-2.0
;
; The switch between stacks, 64-bit.
;
;   void arch_context_switch(uintptr_t *from, uintptr_t to);
;
; A stack that is switched away from, or that context.c has prepared:
;
;   [rsp + 64]   the caller's frame
;   [rsp + 56]   return address
;   [rsp + 48]   rbp
;   [rsp + 40]   rbx
;   [rsp + 8]    r12 to r15, highest first
;   [rsp + 4]    control word of x87
;   [rsp]        MXCSR

bits 64
default rel

global arch_context_switch:function (arch_context_switch.end - \
    arch_context_switch)
global arch_context_begin:function (arch_context_begin.end - \
    arch_context_begin)

section .text

arch_context_switch:
    push    rbp
    mov     rbp, rsp                ; a frame, for samples until the switch
    push    rbx
    push    r12
    push    r13
    push    r14
    push    r15
    sub     rsp, 8
    fnstcw  [rsp + 4]
    stmxcsr [rsp]
    mov     [rdi], rsp
    mov     rsp, rsi                ; here
    lea     rbp, [rsi + 48]
    fldcw   [rsp + 4]
    ldmxcsr [rsp]
    add     rsp, 8
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbx
    pop     rbp
    ret
.end:

; In: rbx = void (*entry)(void), rbp = 0, the stack aligned to 16 bytes
arch_context_begin:
    call    rbx
    ud2
.end:

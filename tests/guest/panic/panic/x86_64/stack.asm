; SPDX-License-Identifier: Apache-2.0
;
; What C cannot do to its stack, 64 bits wide. See ways.h.

bits 64

NOT_CANONICAL       equ 1 << 63     ; a push is a fault, also while reporting

global lose_stack:function (lose_stack.end - lose_stack)
global invalid_opcode:function (invalid_opcode.end - invalid_opcode)
global call_with_fp:function (call_with_fp.end - call_with_fp)

section .text

; void lose_stack(void)
lose_stack:
    push    rbp
    mov     rbp, rsp
    mov     rax, NOT_CANONICAL
    mov     rsp, rax
    ud2
.end:

; void invalid_opcode(void)
invalid_opcode:
    ud2
.end:

; void call_with_fp(uintptr_t fp, void (*function)(void))
;   in: rdi = fp, rsi = function
call_with_fp:
    push    rbp
    mov     rbp, rdi
    call    rsi
    pop     rbp
    ret
.end:

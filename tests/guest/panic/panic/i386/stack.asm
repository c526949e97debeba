; SPDX-License-Identifier: Apache-2.0
;
; What C cannot do to its stack, 32 bits wide. See ways.h.

bits 32

IN_PAGE_0           equ 8           ; a push is a fault, also while reporting

global lose_stack:function (lose_stack.end - lose_stack)
global invalid_opcode:function (invalid_opcode.end - invalid_opcode)
global call_with_fp:function (call_with_fp.end - call_with_fp)

section .text

; void lose_stack(void)
lose_stack:
    push    ebp
    mov     ebp, esp
    mov     esp, IN_PAGE_0
    ud2
.end:

; void invalid_opcode(void)
invalid_opcode:
    ud2
.end:

; void call_with_fp(uintptr_t fp, void (*function)(void))
;   in: [esp + 4] = fp, [esp + 8] = function
call_with_fp:
    push    ebp
    mov     ebp, [esp + 8]
    mov     eax, [esp + 12]
    sub     esp, 8                  ; aligned to 16 bytes at the call
    call    eax
    add     esp, 8
    pop     ebp
    ret
.end:

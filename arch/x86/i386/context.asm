; SPDX-License-Identifier: Apache-2.0
;
; The switch between stacks, 32-bit.
;
;   void arch_context_switch(uintptr_t *from, uintptr_t to);
;
; A stack that is switched away from, or that context.c has prepared:
;
;   [esp + 28]   the caller's frame
;   [esp + 24]   return address
;   [esp + 20]   ebp
;   [esp + 16]   ebx
;   [esp + 12]   esi
;   [esp + 8]    edi
;   [esp + 4]    control word of x87
;   [esp]        MXCSR; unused on a CPU without SSE

bits 32

extern arch_has_sse
global arch_context_switch:function (arch_context_switch.end - \
    arch_context_switch)
global arch_context_begin:function (arch_context_begin.end - \
    arch_context_begin)

section .text

arch_context_switch:
    mov     eax, [esp + 4]          ; from
    mov     ecx, [esp + 8]          ; to
    mov     dl, [arch_has_sse]
    push    ebp
    mov     ebp, esp                ; a frame, for samples until the switch
    push    ebx
    push    esi
    push    edi
    sub     esp, 8
    fnstcw  [esp + 4]
    test    dl, dl
    jz      .x87
    stmxcsr [esp]
    ldmxcsr [ecx]
.x87:
    mov     [eax], esp
    mov     esp, ecx                ; here
    lea     ebp, [ecx + 20]
    fldcw   [esp + 4]
    add     esp, 8
    pop     edi
    pop     esi
    pop     ebx
    pop     ebp
    ret
.end:

; In: ebx = void (*entry)(void), ebp = 0, the stack aligned to 16 bytes
arch_context_begin:
    call    ebx
    ud2
.end:

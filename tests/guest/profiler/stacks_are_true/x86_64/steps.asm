; SPDX-License-Identifier: Apache-2.0
;
; Single steps, and functions whose every instruction is a place for a sample.
; steps.h says what each is for.

%include "tests/guest/both.inc"

        section .text
        extern  step
        global  step_through:function (step_through.end - step_through)
        global  step_stub:function (step_stub.end - step_stub)
        global  on_stack:function (on_stack.end - on_stack)

%define AX rax
%define BX rbx
%define CX rcx
%define BP rbp
%define SP rsp
%define WORD 8
%define ENDBR endbr64

TRAP    equ     0x100

step_through:                           ; rdi = function
        push    rbp
        mov     rbp, rsp
        pushfq
        or      qword [rsp], TRAP
        popfq
        call    rdi
        pushfq
        and     qword [rsp], ~TRAP
        popfq
        pop     rbp
        ret
.end:

; On the stack: ss, rsp, rflags, cs, rip.
step_stub:
        PUSH_SCRATCH
        push    rbx
        fxsave  [floats]
        mov     rdi, [rsp + (SCRATCH_WORDS + 1) * 8]
        mov     rsi, [rsp + (SCRATCH_WORDS + 4) * 8]
        mov     rdx, rbp
        mov     rbx, rsp
        and     rsp, -16
        cld
        call    step
        mov     rsp, rbx
        fxrstor [floats]
        pop     rbx
        POP_SCRATCH
        iretq
.end:

on_stack:                               ; rdi = top, rsi = function
        push    rbp
        push    rbx
        mov     rbx, rsp
        mov     rsp, rdi
        xor     ebp, ebp
        call    rsi
        mov     rsp, rbx
        pop     rbx
        pop     rbp
        ret
.end:

%include "tests/guest/profiler/stacks_are_true/functions.inc"

        section .bss
        align   16
floats: resb    512

        section .note.GNU-stack noalloc noexec nowrite progbits

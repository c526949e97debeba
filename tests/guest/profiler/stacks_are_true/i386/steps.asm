; SPDX-License-Identifier: Apache-2.0
;
; Single steps, and functions whose every instruction is a place for a sample.
; steps.h says what each is for.

        section .text
        extern  step
        global  step_through:function (step_through.end - step_through)
        global  step_stub:function (step_stub.end - step_stub)
        global  on_stack:function (on_stack.end - on_stack)

%define AX eax
%define BX ebx
%define CX ecx
%define BP ebp
%define SP esp
%define WORD 4
%define ENDBR endbr32

TRAP    equ     0x100

step_through:                           ; [esp + 4] = function
        push    ebp
        mov     ebp, esp
        mov     eax, [ebp + 8]
        pushfd
        or      dword [esp], TRAP
        popfd
        call    eax
        pushfd
        and     dword [esp], ~TRAP
        popfd
        pop     ebp
        ret
.end:

; On the stack: eflags, cs, eip.
step_stub:
        pushad
        fxsave  [floats]
        mov     eax, [esp + 32]
        lea     ecx, [esp + 32 + 12]
        mov     ebx, esp
        and     esp, -16
        sub     esp, 4
        push    ebp
        push    ecx
        push    eax
        cld
        call    step
        mov     esp, ebx
        fxrstor [floats]
        popad
        iret
.end:

on_stack:                               ; [esp + 4] = top, [esp + 8] = function
        push    ebp
        push    ebx
        mov     ebx, esp
        mov     eax, [esp + 16]
        mov     esp, [esp + 12]
        xor     ebp, ebp
        call    eax
        mov     esp, ebx
        pop     ebx
        pop     ebp
        ret
.end:

%include "tests/guest/profiler/stacks_are_true/functions.inc"

        section .bss
        align   16
floats: resb    512

        section .note.GNU-stack noalloc noexec nowrite progbits

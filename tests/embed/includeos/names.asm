; SPDX-License-Identifier: Apache-2.0
;
; A large program, of which this is all: 10,500 functions, store::ware10000()
; and so on, that take the same time each. Their names fill 100 KB.

%define WARES 10500
%define STEPS 400

global  wares

%macro  ware 1
        align   8
        global  %1:function (%%end - %1)
%1:
        push    ebp
        mov     ebp, esp
        mov     ecx, STEPS
%%step: dec     ecx
        jnz     %%step
        pop     ebp
        ret
%%end:
%endmacro

section .text
%assign number 10000
%rep WARES
        ware    _ZN5store9ware%[number]Ev
%assign number number + 1
%endrep

section .rodata
wares:
%assign number 10000
%rep WARES
        dd      _ZN5store9ware%[number]Ev
%assign number number + 1
%endrep

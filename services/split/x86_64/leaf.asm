; SPDX-License-Identifier: Apache-2.0
;
; uint32_t leaf_x(uint32_t turns);
;
; Four functions with identical bodies, so that instructions take the same time
; in each. A call executes exactly 4 * (turns + 2) instructions: four per turn
; and eight around the loop. services/split/leaf.h relies on that number.
;
; in:  edi          turns, at least 1
; out: eax          a number that depends on every turn
; clobbers: edx, flags

bits 64
section .text

%macro LEAF 1
global %1:function (%1.end - %1)
align 64
%1:
        push    rbp                     ; a frame like that of a C function
        mov     rbp, rsp
        sub     rsp, 16
        mov     eax, edi                ; turns left
        xor     edx, edx
.turn:
        add     edx, eax
        xor     edx, 0x5bd1e995
        dec     eax
        jnz     .turn
        mov     eax, edx
        leave
        ret
.end:
%endmacro

LEAF leaf_a
LEAF leaf_b
LEAF leaf_c
LEAF leaf_d

; SPDX-License-Identifier: Apache-2.0
;
; uint32_t leaf_x(uint32_t turns);
;
; Four functions with identical bodies, so that instructions take the same time
; in each. A call executes exactly 4 * (turns + 2) instructions: four per turn
; and eight around the loop. services/split/leaf.h relies on that number.
;
; in:  [ebp + 8]    turns, at least 1
; out: eax          a number that depends on every turn
; clobbers: edx, flags

bits 32
section .text

%macro LEAF 1
global %1:function (%1.end - %1)
align 64
%1:
        push    ebp                     ; a frame like that of a C function
        mov     ebp, esp
        sub     esp, 16
        mov     eax, [ebp + 8]          ; turns left
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

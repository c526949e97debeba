; SPDX-License-Identifier: Apache-2.0
; What code.h declares.

        section .text
        global  dark:function (dark.end - dark)
        global  nameless:function (nameless.end - nameless)
        global  wide:function (wide.end - wide)

%macro  ROUNDS 0
        mov     ecx, [esp + 4]
%endmacro

dark:
        ROUNDS
.round: cli
        times   358 nop
        sti
        nop                             ; interrupts get in behind this one
        times   36 nop
        dec     ecx
        jnz     .round
        ret
.end:

nameless:
        ROUNDS
.end:                                   ; without labels, which would be names
        sub     ecx, 1
        jnz     $ - 3
        ret
        align   16

wide:
        ROUNDS
.round: times   4000 nop
        dec     ecx
        jnz     .round
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits

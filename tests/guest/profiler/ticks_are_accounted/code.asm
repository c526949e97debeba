; SPDX-License-Identifier: Apache-2.0
; What main.c declares.

%include "tests/guest/both.inc"

        section .text
        global  dark:function (dark.end - dark)
        global  nameless:function (nameless.end - nameless)
        global  wide:function (wide.end - wide)

dark:
        FIRST_ARGUMENT          ; rounds
.round: cli
        times   358 nop
        sti
        nop                             ; interrupts get in after this one
        times   36 nop
        dec     ecx
        jnz     .round
        ret
.end:

nameless:
        FIRST_ARGUMENT          ; rounds
.end:                                   ; without labels, which would be names
        times   98 nop
        sub     ecx, 1
        jnz     $ - 98 - 3
        ret
        align   16

wide:
        FIRST_ARGUMENT          ; rounds
.round: times   4000 nop
        dec     ecx
        jnz     .round
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
